// Matrices of complex numbers as real ones of twice the length: the element a + i b is the block [[a, -b], [b, a]].
// Sums, products and transposes of conjugates are those of the real matrices, and so is all that they define: solutions
// of systems, Cholesky factors, exponentials, pseudo-inverses, solutions of matrix equations. They have the native code
// and the derivatives of the real functions, at two to four times the arithmetic of complex ones.
#pragma once

#include <initializer_list>
#include <utility>

#include "bitale/ops/operand.hpp"
#include "ops/complex.hpp"

namespace bitale {

inline bool any_complex(std::initializer_list<Variable> variables) {
  for (auto& each : variables)
    if (is_complex(each)) return true;
  return false;
}

// Both of the dtype that they have in common.
std::pair<Variable, Variable> in_common_dtype(const Variable& a, const Variable& b);
// x, whose matrices must be square: ShapeError naming `who` with their own lengths, not those of the real ones, now if
// they are known, else when the function is called.
Variable required_square(const char* who, const Variable& x);
// x, once two lengths are known to be equal: ShapeError with this text, now or when the function is called.
Variable required_equal(const Variable& x, const Variable& a, const Variable& b, const std::string& message);
// a and b, which must be square matrices of one size.
std::pair<Variable, Variable> required_square_pair(const char* who, const Variable& a, const Variable& b);
// [..., m, n] as real [..., 2 m, 2 n], and back.
Variable as_blocks(const ComplexParts& parts);
Variable as_blocks(const Variable& z);
Variable of_blocks(const Variable& blocks);
// What such a matrix is multiplied with: [..., n, k], or [..., n] where b_ndim is 1, as real [..., 2 n, k] or
// [..., 2 n]; and back.
Variable as_columns(const Variable& z, int b_ndim);
Variable of_columns(const Variable& columns, int b_ndim);
// The transposed matrices, conjugate.
Variable adjoint(const Variable& z);
// x[..., i, j] with j <= i as the lower triangle of a Hermitian matrix (or the other way), of which the imaginary parts
// of the diagonal are not read.
Variable hermitian(const Variable& x, bool lower);

}  // namespace bitale
