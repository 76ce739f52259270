// Runs a Program step by step, without generating code, and checks what generated code relies on: every load and store
// is within its buffer, nothing is read before it is written or after its memory was given to another buffer, no buffer
// is filled again after something was stored to it. It tests the passes of the lowering, which must preserve the
// results of a Program.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "bitale/core/array.hpp"
#include "lowering/lower.hpp"

namespace bitale::test {

// The Program violated a rule during its run.
struct BrokenProgram : std::logic_error {
  using std::logic_error::logic_error;
};

struct ProgramRun {
  std::vector<Array> outputs;
  int failed_check = -1;  // the Check whose condition did not hold; outputs are empty then
};

// Inputs are as the program declares them, in C order. `callbacks` are the nodes of HostCalls.
ProgramRun interpret(const program::Program& program, std::span<const Apply> callbacks, std::span<const Array> inputs);

}  // namespace bitale::test
