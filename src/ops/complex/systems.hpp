// Systems of equations and determinants of complex matrices, or batches of them.
#pragma once

#include "bitale/ops/linalg.hpp"

namespace bitale {

// trans: 0 for a, 1 for its transpose, 2 for its adjoint.
Variable complex_solve(const Variable& a, const Variable& b, int trans, int b_ndim, OnError on_error);
struct ComplexTriangle {
  bool lower = false, unit_diagonal = false;
  int trans = 0;
};
Variable complex_solve_triangular(const Variable& a, const Variable& b, const ComplexTriangle& triangle, int b_ndim,
                                  OnError on_error = OnError::Raise);
SignAndLogarithm complex_slogdet(const Variable& x);

}  // namespace bitale
