// The kinds of values that a loop carries from one iteration to the next. The kind determines when the value may be
// read, and thereby which iterations may run in parallel.
#pragma once

#include <cstdint>

namespace bitale::program {

enum class CarryKind : std::uint8_t {
  reduce,      // combined; read when the loop is done. Lanes and threads may combine a part each
  prefix,      // combined; read in each iteration, after its own element. The order of iterations counts
  arg_reduce,  // like reduce: an extreme whose position is carried, too, that of the first of equal ones
  position,    // the position of such an extreme
  state,       // takes its next value at the end of an iteration. Iterations run in order
};

}  // namespace bitale::program
