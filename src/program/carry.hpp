// What a loop carries from one iteration to the next, by kind: the kind says what is seen of it, and thereby which
// iterations may run at once.
#pragma once

#include <cstdint>

namespace bitale::program {

enum class CarryKind : std::uint8_t {
  reduce,      // combined; seen when the loop is done. Lanes and threads may combine a part each
  prefix,      // combined; seen in each iteration, after its own element. Iterations count in order
  arg_reduce,  // as reduce: an extreme whose position is carried, too, the first of equal ones
  position,    // of such an extreme
  state,       // becomes its next value when an iteration is done. Iterations run in order
};

}  // namespace bitale::program
