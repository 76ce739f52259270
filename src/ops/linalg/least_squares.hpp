// Derivatives of pseudo-inverses and least squares, of real and of complex matrices, and the complex functions.
#pragma once

#include <utility>

#include "bitale/graph/variable.hpp"

namespace bitale {

// The cotangent of A for the pseudo-inverse X of A, where the rank is constant, given the cotangent g of X.
Variable pinv_cotangent(const Variable& a, const Variable& x, const Variable& g);

// The cotangents of A and b for the least-squares solution x and for the singular values of A, given those of x and of
// the singular values, which may be disconnected.
struct LeastSquaresProblem {
  Variable a, b, x;
  double rcond;
};
std::pair<Variable, Variable> lstsq_cotangents(const LeastSquaresProblem& of, const Variable& of_x,
                                               const Variable& of_values);

struct LeastSquaresParts {
  Variable x, rank, singular_values;
};
// b consists of matrices.
Variable complex_pinv(const Variable& x, double rcond);
LeastSquaresParts complex_lstsq(const Variable& a, const Variable& b, double rcond);

}  // namespace bitale
