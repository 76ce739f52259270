// Programs for functions that are exported as object files. Calls of BLAS are written out as loops, calls of the host
// are rejected, and the memory that a call needs is computed by a Program of its own, so that any code generator can
// produce both.
#pragma once

#include <string>
#include <vector>

#include "codegen/interface.hpp"

namespace bitale::codegen {

// The Program with loops for products of matrices, and with a check before each allocation whose lengths could be
// negative. Throws NotImplementedError for calls of the host.
program::Program freestanding(const Interface& interface);

// The runtime functions that the Program calls, except those that <math.h> declares.
std::vector<std::string> runtime_functions(const program::Program& program);

// A Program whose last output is a row of int64: the bytes of workspace; the lengths of the results, consecutively; the
// offset in the workspace of each temporary that is not on the stack; the offset of the `spill_bytes` that follow.
struct SizesProgram {
  program::Program program;
  std::int64_t buffer;                    // the buffer of that row
  std::int64_t header_words;              // length of the first two parts, which the caller of NAME_sizes receives
  std::vector<std::int64_t> with_offset;  // the temporaries that have an offset in the row, in this order
};
// Throws NotImplementedError when lengths depend on values computed in the call.
SizesProgram sizes_program(const Interface& interface, std::int64_t spill_bytes);

}  // namespace bitale::codegen
