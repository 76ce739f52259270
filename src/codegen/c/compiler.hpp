// The system's C compiler: found or configured, and run on a text.
#pragma once

#include <string>
#include <vector>

#include "codegen/target.hpp"

namespace bitale::codegen::c {

struct Compiler {
  std::string path;                // of the executable
  std::vector<std::string> flags;  // for code that this process runs
  // Everything that determines the output for a text: the executable, its version, and the flags.
  std::string identity() const;
};

// The compiler for that target, by the flags `cc`, `cxx` and `gcc__cxxflags`. Throws MissingGenerator, with a message
// of one sentence, when there is none.
Compiler find_compiler(const Target& target);

// Compiles a C text to an object file. Throws InternalError with the compiler's messages when it fails.
std::string compile_text(const Compiler& compiler, const std::string& text);

}  // namespace bitale::codegen::c
