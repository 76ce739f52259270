// Cholesky factors of symmetric sparse matrices, and what they give: solutions, log determinants, elements of inverses
// and samples of Gaussians. For a static pattern, the order of elimination and the factor's pattern are found when an
// instance is made, otherwise in each call; elements are computed when a function is called.
#pragma once

#include <memory>
#include <vector>

#include "bitale/sparse/matrix.hpp"

namespace bitale {
struct RealForm;
}

namespace bitale::sparse {

class Cholesky {
 public:
  // Only the lower triangle is read; a complex matrix is Hermitian, and of its diagonal the real part is read.
  // ShapeError for a matrix that is not square; a call raises LinAlgError, naming the row, where the matrix is not
  // positive definite.
  explicit Cholesky(const Matrix& a);

  const Matrix& matrix() const { return matrix_; }
  // L with L @ L.T == A[order][:, order], or L @ L.conj().T for complex matrices, a lower triangular csc matrix.
  Matrix factor() const;
  // NotImplementedError without a static pattern.
  const std::vector<std::int64_t>& order() const;
  // x with A @ x == b, for a vector or the columns of a matrix.
  Variable solve(const Operand& b) const;
  Variable logdet() const;
  // The elements of the inverse at the positions that A stores.
  Matrix selected_inverse() const;
  // L.T^-1 @ z in the rows' own order, or L.conj().T^-1 @ z for complex matrices: with z of standard normal numbers
  // (complex ones: Re z and Im z have variances of 1/2 each), a sample of the Gaussian of precision A.
  Variable sample(const Operand& z) const;

 private:
  // A vector or matrix in the order of elimination, as the factor's systems take it, and back.
  Variable ordered(const Operand& b) const;
  Variable restored(const Variable& x) const;

  Matrix matrix_;
  std::vector<std::int64_t> order_;               // of a static pattern
  Variable permutation_, inverse_order_, slots_;  // slots_: where the factor has each element of A
  Variable factor_bounds_, factor_rows_;          // of L
  Variable triangle_, factor_, bounds_, rows_;    // what is eliminated: of complex matrices, the real form
  Variable named_rows_;                           // the row of A to which each of these belongs
  Variable is_mirrored_;                          // of complex matrices: where L has the conjugate of A's element
  std::shared_ptr<const RealForm> form_;          // of complex matrices
};

}  // namespace bitale::sparse
