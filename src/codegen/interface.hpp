// Interface: how C calls a function that is given away, be it C code or an object file: what its parameters are called,
// which code stands for which failure, and the header that says so. All memory is the caller's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bitale/core/small_vector.hpp"
#include "program/program.hpp"

namespace bitale::codegen {

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

struct Interface {
  const program::Program& program;
  const Signature& signature;
  std::vector<std::int64_t> input_buffers, output_buffers;  // by slot
  std::vector<std::string> input_names, output_names;
  std::vector<std::vector<std::string>> lengths;  // names of the inputs' lengths

  Interface(const program::Program& program, const Signature& signature);

  std::string given(bool restricted) const;    // the parameters that say what a call is given
  std::string given_names() const;             // the same, as arguments
  std::string results(bool restricted) const;  // the other parameters
  int output_ndim(std::size_t i) const;

  // A length that is fixed by the type of its input.
  struct FixedLength {
    std::size_t input, axis;
    std::int64_t length;
    std::string message;
  };
  std::vector<FixedLength> fixed_lengths() const;
  // Codes: first those of the Program's checks, then those of fixed lengths, then this one.
  int negative_length() const;
  // What each code says, from 1.
  std::vector<std::string> codes() const;

  std::string header() const;
};

// The bytes that a temporary takes of the workspace are rounded up to a multiple of this.
inline constexpr std::int64_t workspace_alignment = 64;

// Only what says how much memory there is. NotImplementedError when that depends on values computed in the call.
program::Program allocations_of(const program::Program& program);

std::string upper(std::string text);

}  // namespace bitale::codegen
