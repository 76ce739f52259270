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

}  // namespace bitale::program
