// Interface: how C calls an exported function, be it C code or an object file: the names of its parameters, the code
// for each failure, and the header that documents both. All memory belongs to the caller.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bitale/core/small_vector.hpp"
#include "program/program.hpp"

namespace bitale::codegen {

// The name, type and description of a parameter.
struct Parameter {
  std::string name;
  DType dtype = DType::Float64;
  Dims shape;         // of an input: its lengths, fixed ones or unknown_length
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

  std::vector<std::string> own_names() const;  // of the functions and types of the file
  std::string given(bool restricted) const;    // the parameters for the inputs and their lengths
  std::string given_names() const;             // the same, as arguments
  std::string results(bool restricted) const;  // the parameters for the results and the workspace
  int output_ndim(std::size_t i) const;

  // A length that is fixed by the type of its input.
  struct FixedLength {
    std::size_t input, axis;
    std::int64_t length;
    std::string message;
  };
  std::vector<FixedLength> fixed_lengths() const;
  // The codes for a negative length, and for NULL where a workspace is needed. They follow the codes of the Program's
  // checks and those of fixed lengths.
  int negative_length() const;
  int no_workspace() const { return negative_length() + 1; }
  // The messages of the codes, from code 1 on.
  std::vector<std::string> codes() const;

  std::string header() const;
};

// The bytes that a temporary takes of the workspace are rounded up to a multiple of this.
inline constexpr std::int64_t workspace_alignment = 64;

// The Program reduced to its allocations, which determine how much memory a call needs. Throws NotImplementedError when
// that depends on values computed in the call.
program::Program allocations_of(const program::Program& program);

std::string upper(std::string text);

}  // namespace bitale::codegen
