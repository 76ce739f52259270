// Aliases of functions under the names that PyTensor and NumPy have: multiply for mul, less_equal for le.
#pragma once

#include "bitale/ops/arrange.hpp"
#include "bitale/ops/complex.hpp"
#include "bitale/ops/elementary.hpp"
#include "bitale/ops/linalg.hpp"
#include "bitale/ops/ops.hpp"

namespace bitale {

// clang-format off
#define BITALE_NAMES_OF_ONE(X)                                                                                       \
  X(negative, neg) X(square, sqr) X(bitwise_not, invert) X(expit, sigmoid) X(log1pexp, softplus) X(digamma, psi)     \
  X(round_half_to_even, round) X(sgn, sign) X(conjugate, conj) X(swap_last_axes, matrix_transpose)                   \
  X(matrix_inverse, inv) X(bitwise_invert, invert) X(acos, arccos) X(asin, arcsin) X(atan, arctan) X(acosh, arccosh)  \
  X(asinh, arcsinh) X(atanh, arctanh)
#define BITALE_NAMES_OF_TWO(X)                                                                                       \
  X(power, pow) X(subtract, sub) X(multiply, mul) X(divide, true_div) X(true_divide, true_div) X(floor_div, int_div) \
  X(floor_divide, int_div) X(equal, eq) X(not_equal, neq) X(less, lt) X(less_equal, le) X(greater, gt)               \
  X(greater_equal, ge) X(bitwise_and, and_) X(bitwise_or, or_) X(bitwise_xor, xor_) X(fill, second) X(dense_dot, dot)      \
  X(atan2, arctan2) X(remainder, mod) X(bitwise_left_shift, left_shift) X(bitwise_right_shift, right_shift)
// clang-format on
#define BITALE_DECLARE(name, function) \
  inline Variable name(const Operand& x) { return function(x); }
BITALE_NAMES_OF_ONE(BITALE_DECLARE)
#undef BITALE_DECLARE
#define BITALE_DECLARE(name, function) \
  inline Variable name(const Operand& x, const Operand& y) { return function(x, y); }
BITALE_NAMES_OF_TWO(BITALE_DECLARE)
#undef BITALE_DECLARE

inline Variable concat(const Operands& tensors, int axis = 0) { return concatenate(tensors, axis); }
inline Variable permute_dims(const Operand& x, const std::vector<int>& axes) { return transpose(x, axes); }
inline Variable astype(const Operand& x, DType dtype) { return cast(x, dtype); }

inline Variable extract_diag(const Operand& x, int offset = 0, int axis1 = 0, int axis2 = 1) {
  return diagonal(x, offset, axis1, axis2);
}

}  // namespace bitale
