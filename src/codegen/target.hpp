// What code is generated for, known without any code generator: which instructions it may use, and how wide vectors
// are.
#pragma once

#include <string>
#include <string_view>

#include "core/digest.hpp"

namespace bitale::codegen {

struct Target {
  std::string level = "native";  // all that this processor has, or a level of the x86-64 ABI, which says what there is
  int vector_bytes = 16;
  void add_to(Digester& digester) const;  // all that code may depend on
};

// By a value of the flag `target`: native, x86-64, x86-64-v2 (vectors of 128 bits), x86-64-v3 (256) or x86-64-v4 (512).
// ValueError for another name and for a level that this processor does not reach.
const Target& target_named(std::string_view level);

// By the flag `target`.
const Target& this_target();

}  // namespace bitale::codegen
