// The code generators behind `compile`: a Program as an object file.
#pragma once

#include <string>
#include <string_view>

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

// What makes object files, all with the same entry.
struct Generator {
  std::string_view linker;  // whose it is
  // What its code depends on besides the Program, the processor and the sources of this library. MissingGenerator.
  std::string (*identity)();
  // MissingGenerator when what it needs is not found.
  std::string (*generate)(const program::Program& program, const Target& target);
};
const Generator& llvm_generator();  // by the LLVM library
const Generator& c_generator();     // as C, by the system's compiler

// "LLVM 19.1.7, libLLVM.so.19.1". MissingGenerator.
const std::string& generator_version();

}  // namespace bitale::codegen
