// The code generator behind `compile`: a Program as an object file.
#pragma once

#include <string>

#include "bitale/core/error.hpp"
#include "codegen/target.hpp"
#include "program/program.hpp"

namespace bitale::codegen {

inline constexpr const char* entry_name = "bitale_entry";  // int32 entry(runtime::Frame*)

// What generates code is not installed; the message says what to install. Another linker may do.
class MissingGenerator : public NotImplementedError {
 public:
  using NotImplementedError::NotImplementedError;
};

// By LLVM. MissingGenerator when no usable LLVM library is found.
std::string generate_object(const program::Program& program, const Target& target);
// "LLVM 19.1.7, libLLVM.so.19.1". MissingGenerator.
const std::string& generator_version();

}  // namespace bitale::codegen
