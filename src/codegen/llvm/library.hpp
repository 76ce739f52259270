// The functions of the runtime for code that is given away, in LLVM's language: definitions that need the C library's
// mathematics alone.
#pragma once

#include <string>
#include <vector>

namespace bitale::codegen {

// The definitions of these runtime functions and of what they need. NotImplementedError naming one that has none.
std::string library_text(const std::vector<std::string>& functions);

}  // namespace bitale::codegen
