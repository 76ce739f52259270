// Programs for functions that are given away as objects: what calls the host or BLAS in a Program is written out, and
// how much memory a call takes is a Program of its own, so that any code generator can make both.
#pragma once

#include <string>
#include <vector>

#include "codegen/interface.hpp"

namespace bitale::codegen {

// The Program with loops for products of matrices, and with a check before each allocation whose lengths could come out
// negative. NotImplementedError for calls of the host.
program::Program freestanding(const Interface& interface);

// The runtime functions that it calls.
std::vector<std::string> runtime_functions(const program::Program& program);

// Writes a row of int64, its last output: bytes of workspace; the lengths of the results, one after the other; where in
// the workspace each temporary begins that is not on the stack; where `spill_bytes` more begin.
struct SizesProgram {
  program::Program program;
  std::int64_t buffer;               // that row
  std::int64_t header_words;         // the first two parts: what the caller of NAME_sizes is told
  std::vector<std::int64_t> placed;  // the temporaries, in this order
};
// NotImplementedError when lengths depend on values computed in the call.
SizesProgram sizes_program(const Interface& interface, std::int64_t spill_bytes);

}  // namespace bitale::codegen
