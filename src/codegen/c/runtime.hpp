// The functions of the runtime in plain C, for code that is given away: definitions that need C's library alone, or
// CBLAS where the reader of the code asks for it.
#pragma once

#include <string>

#include "runtime/functions.hpp"

namespace bitale::codegen::c {

// Empty when there is none. It needs those of `function.needs`, and of the function that it is widened from, before it.
std::string portable_definition(const runtime::RuntimeFunction& function);

}  // namespace bitale::codegen::c
