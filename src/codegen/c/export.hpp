// Exports a Program as C code: a self-contained source and header. The function is re-entrant and allocates nothing:
// the memory for results and temporaries belongs to the caller.
#pragma once

#include <string>

#include "codegen/interface.hpp"

namespace bitale::codegen::c {

struct ExportedText {
  std::string source, header, cmake;
};

// Throws NotImplementedError, naming what can't be exported: calls of the host, functions without C code, lengths that
// depend on computed values.
ExportedText export_text(const program::Program& program, const Signature& signature, int vector_bytes);

}  // namespace bitale::codegen::c
