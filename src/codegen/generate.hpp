// The code generators behind `compile`, which turn a Program into an object file.
#pragma once

#include <string>
#include <string_view>

#include "bitale/core/error.hpp"
#include "codegen/target.hpp"
#include "program/program.hpp"

namespace bitale::codegen {

inline constexpr const char* entry_name = "bitale_entry";  // int32 entry(runtime::Frame*)

// What the code generator needs is not installed; the message says what to install. Another linker may work.
class MissingGenerator : public NotImplementedError {
 public:
  using NotImplementedError::NotImplementedError;
};

// A generator of object files, all of which have the same entry point.
struct Generator {
  std::string_view linker;  // the name of the linker that uses it
  // What its code depends on besides the Program, the processor and the sources of this library. Throws
  // MissingGenerator.
  std::string (*identity)();
  // Throws MissingGenerator when what it needs is not found. Null: Programs are interpreted, always.
  std::string (*generate)(const program::Program& program, const Target& target);
  // Tiered compilation: Programs are interpreted until it has turned out that code is worthwhile, and is ready.
  bool interprets_first = false;
};
// By means of the LLVM library. In a build without it (without_llvm.cpp) both of them interpret.
const Generator& llvm_generator();
const Generator& llvm_tiered_generator();  // the same code in the end
const Generator& c_generator();            // as C, compiled by the system's compiler

// For example "LLVM 19.1.7, libLLVM.so.19.1". Throws MissingGenerator.
const std::string& generator_version();

}  // namespace bitale::codegen
