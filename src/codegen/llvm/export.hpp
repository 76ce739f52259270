// A Program as an object file to give away: the C function of an Interface around the code that the native linker would
// run. It needs the C library's mathematics alone.
#pragma once

#include <string>

#include "codegen/interface.hpp"
#include "codegen/target.hpp"

namespace bitale::codegen {

// A relocatable ELF file, independent of where it is loaded. NotImplementedError naming what can't be given away: calls
// of the host, runtime functions without a definition, lengths that depend on computed values, a processor that the
// LLVM library does not know. MissingGenerator without LLVM.
std::string object_file(const Interface& interface, const Target& target);

}  // namespace bitale::codegen
