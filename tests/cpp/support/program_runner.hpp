// Runs a Program directly, by a code generator or by the interpreter of the tests: for tests of the semantics of steps,
// which need no graph.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "bitale/core/array.hpp"
#include "codegen/code.hpp"
#include "program/program.hpp"

namespace bitale::test {

struct ProgramResult {
  int status = 0;  // 0, or the number of the check that failed + 1
  std::vector<Array> outputs;
};

// `how`: "llvm", "c", "tiered" (interpreted at first) or "interpreter" (that of the tests). Inputs are C-contiguous
// arrays, in the order of their slots. The Program must not call the host.
ProgramResult run_program(const program::Program& program, std::span<const Array> inputs, std::string_view how);

// Runs what was compiled for the Program.
ProgramResult run_code(const codegen::MachineCode& code, const program::Program& program,
                       std::span<const Array> inputs);

}  // namespace bitale::test
