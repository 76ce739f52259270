// A Program as C code to give away: a source and a header that stand for themselves, re-entrant, without any
// allocation: memory for results and for temporaries is the caller's.
#pragma once

#include <string>
#include <vector>

#include "bitale/core/small_vector.hpp"
#include "program/program.hpp"

namespace bitale::codegen::c {

// What a parameter is called and what is said of it.
struct Parameter {
  std::string name;
  DType dtype = DType::Float64;
  Dims shape;         // of an input: lengths that are fixed, or unknown_length
  std::string about;  // for the header's comment; may be empty
};

struct Signature {
  std::string name;                        // of the function: an identifier
  std::vector<Parameter> inputs, outputs;  // in the order of the Program's slots
  std::string about;                       // what it computes, for the header's comment
};

struct ExportedText {
  std::string source, header, cmake;
};

// NotImplementedError naming what can't be given away: calls of the host, functions that exist only here, lengths that
// depend on computed values.
ExportedText export_text(const program::Program& program, const Signature& signature, int vector_bytes);

}  // namespace bitale::codegen::c
