// The runtime functions in plain C, for exported code: definitions that need only the C library, or CBLAS where the
// user of the code requests it.
#pragma once

#include <string>

#include "bitale/runtime/functions.hpp"

namespace bitale::codegen::c {

// Empty when there is none. The definitions of `function.needs`, and of the function that it is widened from, must
// precede it.
std::string portable_definition(const runtime::RuntimeFunction& function);

}  // namespace bitale::codegen::c
