// Long modules are compiled in pieces, by several threads at once: most of the time to the first result of a long
// function is spent on machine code, which LLVM generates function by function and on one thread per context.
#pragma once

#include <string>

#include "codegen/llvm/module.hpp"

namespace bitale::codegen {

// The object file of a complete module, after `passes`. For a long module it is an archive of several, if this process
// may run on several processors. What a function computes does not depend on it.
std::string object_of(Module& module, const std::string& passes);

}  // namespace bitale::codegen
