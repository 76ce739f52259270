// A Program as C code to give away: a source and a header that stand for themselves, re-entrant, without any
// allocation: memory for results and for temporaries is the caller's.
#pragma once

#include <string>

#include "codegen/interface.hpp"

namespace bitale::codegen::c {

struct ExportedText {
  std::string source, header, cmake;
};

// NotImplementedError naming what can't be given away: calls of the host, functions that exist only here, lengths that
// depend on computed values.
ExportedText export_text(const program::Program& program, const Signature& signature, int vector_bytes);

}  // namespace bitale::codegen::c
