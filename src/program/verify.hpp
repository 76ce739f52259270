// The verifier at the stages of lowering.
#pragma once

#include "program/program.hpp"

namespace bitale::program {

enum class Stage {
  without_memory,  // before the pass that allocates buffers: each exists from the beginning
  complete,
};
// As verify(program), which is that of a complete Program.
void verify(const Program& program, Stage stage);
// Throws InternalError if a sum that both have, of one pool, is added in another order (Loop::lane_order, and by runs).
void verify_orders(const Program& before, const Program& after);

}  // namespace bitale::program
