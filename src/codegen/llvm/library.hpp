// The runtime functions for exported code, as LLVM IR: definitions that need only the mathematics of the C library.
#pragma once

#include <string>
#include <vector>

namespace bitale::codegen {

// The definitions of these runtime functions and of what they need. Throws NotImplementedError, naming one without
// definition.
std::string library_text(const std::vector<std::string>& functions);

}  // namespace bitale::codegen
