// LU factors of general sparse matrices, and what they give: solutions and determinants. For a static pattern, the
// order of the columns is found when an instance is made, otherwise in each call; rows are exchanged for pivots when a
// function is called, so the factors' pattern depends on the values.
#pragma once

#include <memory>
#include <vector>

#include "bitale/sparse/matrix.hpp"

namespace bitale::sparse {

class Lu {
 public:
  // ShapeError for a matrix that is not square; a call raises LinAlgError, naming the column, where the matrix is
  // singular.
  explicit Lu(const Matrix& a);

  const Matrix& matrix() const { return matrix_; }  // in the format csc
  // The order in which columns are eliminated; for complex matrices, those of the real form. NotImplementedError
  // without a static pattern.
  const std::vector<std::int64_t>& column_order() const;
  // x with A @ x == b, for a vector or the columns of a matrix; or with A.T @ x == b or its conjugate.
  Variable solve(const Operand& b, Trans trans = Trans::none) const;
  // The sign of the determinant, a complex number of absolute value 1 for a complex matrix, and the logarithm of its
  // absolute value.
  Variables slogdet() const;
  // The logarithm of the determinant's absolute value.
  Variable logdet() const;

 private:
  Matrix matrix_;  // csc
  std::vector<std::int64_t> order_;
  Variable permutation_;                         // order_ as a constant
  Variable values_, bounds_, rows_, row_order_;  // of the factors
  struct Complex;                                // of a complex matrix, the factors of its real form
  std::shared_ptr<const Complex> complex_;
};

}  // namespace bitale::sparse
