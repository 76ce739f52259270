// Derivatives of the exponential of matrices along given directions, real or complex. D(A)[E_1, ..., E_k], the
// coefficient of e_1 ... e_k in exp(A + e_1 E_1 + ... + e_k E_k), is linear in each direction and symmetric. Its
// derivative by A is D(A)[E_1, ..., E_k, .], and the adjoint of D(A)[E_1, ..., .] is D(A^H)[E_1^H, ..., .]: derivatives
// of every order are of this form.
#pragma once

#include <span>

#include "bitale/graph/variable.hpp"

namespace bitale {

// D(A)[directions], at least one, for matrices [n, n].
Variable expm_derivative(const Variable& a, const Variables& directions);
// For exp(A), without directions, or D(A)[directions]: the cotangents of A and of each direction, given that of the
// result; and the tangent of the result, given those of A and of each direction, which may be disconnected.
Variables expm_cotangents(const Variable& a, const Variables& directions, const Variable& cotangent);
Variable expm_tangent(const Variable& a, const Variables& directions, std::span<const Variable> tangents);

// Matrices stacked along a first dimension: the matrix of this number, and all of them.
Variable matrix_in(const Variable& stacked, int number);
Variables matrices_in(const Variable& stacked);

}  // namespace bitale
