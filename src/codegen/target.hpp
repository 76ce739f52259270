// What code is generated for, known without any code generator: which instructions it may use, and how wide vectors
// are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/digest.hpp"

namespace bitale::codegen {

enum class Processor : std::uint8_t { x86_64, aarch64, other };

struct Target {
  // All that this processor has; or a level of the x86-64 ABI, which says what there is; or aarch64, with what every
  // such processor has.
  std::string level = "native";
  int vector_bytes = 16;
  bool avx_512 = false;        // all its parts, for vectors of any width
  bool slow_gathers = false;   // as processor.hpp says
  bool checks_memory = false;  // every load and store is tested (flag memory__check)
  Processor processor() const;
  void add_to(Digester& digester) const;  // all that code may depend on
};

Processor this_processor();

// By a value of the flag `target`: native (vectors as vector_width.hpp says), native-128, native-256 or native-512;
// x86-64, x86-64-v2 (vectors of 128 bits), x86-64-v3 (256) or x86-64-v4 (512); aarch64 (128). ValueError for another
// name and for what this processor does not have.
const Target& target_named(std::string_view name);

// The same for code that runs elsewhere: any level of any processor.
Target foreign_target(std::string_view name);

// By the flag `target`.
const Target& this_target();

}  // namespace bitale::codegen
