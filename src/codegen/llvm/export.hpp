// Exports a Program as an object file: the C function of an Interface around the code that the native linker would run.
// It needs only the mathematics of the C library.
#pragma once

#include <string>

#include "codegen/interface.hpp"
#include "codegen/target.hpp"

namespace bitale::codegen {

// A relocatable, position-independent ELF file. Throws NotImplementedError, naming what can't be exported: calls of the
// host, runtime functions without a definition, lengths that depend on computed values, a processor that the LLVM
// library does not support. Throws MissingGenerator without LLVM.
std::string object_file(const Interface& interface, const Target& target);

}  // namespace bitale::codegen
