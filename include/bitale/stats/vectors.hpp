// Logarithms of densities and of probabilities of vectors, matrices and categories. The last dimension of a vector (the
// last two of a matrix) is reduced; those before it are batches, which broadcast. ShapeError for other ranks and for
// lengths that don't fit; otherwise as in densities.hpp.
#pragma once

#include "bitale/ops/operand.hpp"

namespace bitale::stats {

// Categories count from 0. Their probabilities, or their logits up to a common constant, are the last dimension.
Variable categorical_logpmf(const Operand& x, const Operand& p);
Variable categorical_logit_logpmf(const Operand& x, const Operand& logits);
// Category k where a logistic variable around eta is between cutpoints k - 1 and k, which increase.
Variable ordered_logistic_logpmf(const Operand& x, const Operand& eta, const Operand& cutpoints);

Variable multinomial_logpmf(const Operand& x, const Operand& n, const Operand& p);
// Shares that sum to 1 as nearly as numbers of their dtype can.
Variable dirichlet_logpdf(const Operand& x, const Operand& alphas);

// A normal vector, given its covariance matrix, the lower Cholesky factor of that, or its inverse. nan where the matrix
// is not positive definite.
Variable multivariate_normal_logpdf(const Operand& x, const Operand& mean, const Operand& cov);
Variable multivariate_normal_cholesky_logpdf(const Operand& x, const Operand& mean, const Operand& factor);
Variable multivariate_normal_precision_logpdf(const Operand& x, const Operand& mean, const Operand& precision);

// Lower Cholesky factors of correlation matrices (Lewandowski, Kurowicka and Joe 2009), with the length, which must be
// known: the density of the elements below the diagonal.
Variable lkj_cholesky_logpdf(const Operand& factor, const Operand& eta);
// Positive definite matrices, given degrees of freedom and a scale matrix.
Variable wishart_logpdf(const Operand& x, const Operand& df, const Operand& scale);

}  // namespace bitale::stats
