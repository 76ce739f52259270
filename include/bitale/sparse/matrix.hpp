// Matrix: a sparse matrix as a value of the symbolic language: a pattern, and a vector of the elements that it stores.
// Functions of sparse matrices are expressions over these vectors, composed of ordinary operations (gathers, sums over
// segments, scatters), so they fuse with what surrounds them, and have derivatives, batches and all linkers.
#pragma once

#include <cstdint>
#include <string>

#include "bitale/sparse/pattern.hpp"

namespace bitale::sparse {

// What a system has in the matrix's place: adjoint is the conjugate transpose.
enum class Trans : std::uint8_t { none, transpose, adjoint };

class Matrix {
 public:
  // TypeError for data that is not a vector, ShapeError when it is known not to have one element per stored element.
  Matrix(Pattern pattern, const Operand& data, std::string name = {});

  const Pattern& pattern() const { return pattern_; }
  const Variable& data() const { return data_; }
  const std::string& name() const { return name_; }
  DType dtype() const { return data_.dtype(); }
  Format format() const { return pattern_.format(); }
  const Variable& length(int axis) const { return pattern_.length(axis); }
  std::string str() const;

  // Other elements with the same pattern.
  Matrix with_data(const Operand& data) const { return Matrix(pattern_, data); }
  Matrix transpose() const { return Matrix(pattern_.transposed(), data_); }
  // The same matrix in another format.
  Matrix to(Format format) const;

 private:
  Pattern pattern_;
  Variable data_;
  std::string name_;
};

}  // namespace bitale::sparse
