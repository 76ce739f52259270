// Stan's transforms of unconstrained variables y to constrained ones x, with the logarithm of the absolute determinant
// of the Jacobian, and back (Stan Reference Manual, "Constraint Transforms"; the sections are named below). A log
// density on the unconstrained space is that of x plus log_jacobian.
//
// Transforms of numbers have a Jacobian for each element. Those of vectors reduce the last dimension of y, those of
// matrices take y as a vector and give matrices; dimensions before are batches. ShapeError for lengths that don't fit.
// For an x outside the constrained space, y is nan, -inf or inf somewhere.
#pragma once

#include "bitale/ops/operand.hpp"

namespace bitale::stats {

struct Constrained {
  Variable value, log_jacobian;
};

// ---- numbers --------------------------------------------------------------------------------------------------------
// "Lower bounded scalar": x = exp(y) + bound.
Constrained lower(const Operand& y, const Operand& bound);
Variable lower_inverse(const Operand& x, const Operand& bound);
// "Upper bounded scalar": x = bound - exp(y).
Constrained upper(const Operand& y, const Operand& bound);
Variable upper_inverse(const Operand& x, const Operand& bound);
// "Lower and upper bounded scalar": x = low + (high - low) sigmoid(y).
Constrained interval(const Operand& y, const Operand& low, const Operand& high);
Variable interval_inverse(const Operand& x, const Operand& low, const Operand& high);
// "Affinely transformed scalar": x = offset + multiplier y.
Constrained offset_multiplier(const Operand& y, const Operand& offset, const Operand& multiplier);
Variable offset_multiplier_inverse(const Operand& x, const Operand& offset, const Operand& multiplier);

// ---- vectors --------------------------------------------------------------------------------------------------------
// "Ordered vector": the first element, and the logarithms of the differences.
Constrained ordered(const Operand& y);
Variable ordered_inverse(const Operand& x);
// The same with the logarithm of the first element, too.
Constrained positive_ordered(const Operand& y);
Variable positive_ordered_inverse(const Operand& x);
// "Unit simplex": K shares of K - 1 numbers, the softmax of the zero-sum vector. `simplex_stick` is the transform up to
// Stan 2.36, by stick breaking.
Constrained simplex(const Operand& y);
Variable simplex_inverse(const Operand& x);
Constrained simplex_stick(const Operand& y);
Variable simplex_stick_inverse(const Operand& x);
// "Zero sum vector": K numbers of K - 1, by an orthogonal matrix.
Constrained sum_to_zero(const Operand& y);
Variable sum_to_zero_inverse(const Operand& x);
// "Unit vector": y / |y|; the Jacobian is the density of a standard normal y.
Constrained unit_vector(const Operand& y);
Variable unit_vector_inverse(const Operand& x);

// ---- matrices of K rows ---------------------------------------------------------------------------------------------
// "Cholesky factors of correlation matrices", of K (K - 1) / 2 canonical partial correlations.
Constrained cholesky_corr(const Operand& y, int rows);
Variable cholesky_corr_inverse(const Operand& x);
// "Correlation matrices".
Constrained corr_matrix(const Operand& y, int rows);
Variable corr_matrix_inverse(const Operand& x);
// "Cholesky factors of covariance matrices", of K (K + 1) / 2 numbers: rows, with logarithms on the diagonal.
Constrained cholesky_cov(const Operand& y, int rows);
Variable cholesky_cov_inverse(const Operand& x);
// "Covariance matrices".
Constrained cov_matrix(const Operand& y, int rows);
Variable cov_matrix_inverse(const Operand& x);

}  // namespace bitale::stats
