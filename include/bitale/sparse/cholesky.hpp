// Cholesky factors of symmetric sparse matrices, and what they give: solutions, log determinants, elements of inverses
// and samples of Gaussians. The order of elimination and the factor's pattern are found when an instance is made, for
// a static pattern, else in each call; elements are computed when a function is called.
#pragma once

#include <memory>
#include <vector>

#include "bitale/sparse/matrix.hpp"

namespace bitale::sparse {

class Cholesky {
 public:
  // Only the lower triangle is read; a complex matrix is Hermitian. ShapeError for a matrix that is not square,
  // NotImplementedError for a complex one without a static pattern; a call raises LinAlgError, naming the row, where
  // the matrix is not positive definite.
  explicit Cholesky(const Matrix& a);

  // L with L @ L.T == A[order][:, order], a lower triangular csc matrix. NotImplementedError for complex matrices.
  Matrix factor() const;
  // NotImplementedError without a static pattern.
  const std::vector<std::int64_t>& order() const;
  // x with A @ x == b, for a vector or the columns of a matrix.
  Variable solve(const Operand& b) const;
  Variable logdet() const;
  // The elements of the inverse at the positions that A stores.
  Matrix selected_inverse() const;
  // L.T^-1 @ z in the rows' own order: with z of standard normal numbers, a sample of the Gaussian of precision A. For
  // complex matrices, with the factor of the real form (Re z and Im z have variances of 1/2 each).
  Variable sample(const Operand& z) const;

 private:
  // Errors name rows modulo this number, those of a complex matrix by its real form.
  Cholesky(const Matrix& a, std::int64_t named_rows);
  Variable ordered(const Operand& b) const;
  Variable restored(const Variable& x) const;

  Matrix matrix_;
  std::vector<std::int64_t> order_;                               // of a static pattern
  Variable bounds_, rows_, permutation_, inverse_order_, slots_;  // slots_: where the factor has each element of A
  Variable triangle_, factor_;
  // Of a complex matrix: the factor of its real form, and nothing else.
  struct Complex;
  std::shared_ptr<const Complex> complex_;
};

}  // namespace bitale::sparse
