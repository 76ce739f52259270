// The target that code is generated for: which instructions it may use, and how wide vectors are. It is known without
// loading a code generator.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/digest.hpp"

namespace bitale::codegen {

enum class Processor : std::uint8_t { x86_64, aarch64, other };

struct Target {
  // `native`: all features of this processor; or a level of the x86-64 ABI, which determines the features; or aarch64,
  // with the features that every such processor has.
  std::string level = "native";
  int vector_bytes = 16;
  bool avx_512 = false;        // all its parts, for vectors of any width
  bool slow_gathers = false;   // see processor.hpp
  bool checks_memory = false;  // every load and store is tested (flag memory__check)
  Processor processor() const;
  void add_to(Digester& digester) const;  // all that code may depend on
};

Processor this_processor();

// The target for a value of the flag `target`: native (vectors as in vector_width.hpp), native-128, native-256 or
// native-512; x86-64, x86-64-v2 (vectors of 128 bits), x86-64-v3 (256) or x86-64-v4 (512); aarch64 (128). Throws
// ValueError for another name and for a target that this processor can't run.
const Target& target_named(std::string_view name);

// The same for code that runs elsewhere: any level of any processor.
Target foreign_target(std::string_view name);

// The target that the flag `target` names.
const Target& this_target();

}  // namespace bitale::codegen
