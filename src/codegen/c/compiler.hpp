// The system's C compiler: found or configured, and run on a text.
#pragma once

#include <string>
#include <vector>

#include "codegen/target.hpp"

namespace bitale::codegen::c {

struct Compiler {
  std::string path;                // of its program
  std::vector<std::string> flags;  // for code that this process runs
  // Whatever decides what it makes of a text: which program, of which version, and the flags.
  std::string identity() const;
};

// For that target, by the flags `cc`, `cxx` and `gcc__cxxflags`. MissingGenerator, in one sentence, when there is none.
Compiler find_compiler(const Target& target);

// The object file of a C text. InternalError with the compiler's words when it refuses it.
std::string compile_text(const Compiler& compiler, const std::string& text);

}  // namespace bitale::codegen::c
