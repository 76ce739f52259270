// Complex matrices as real ones of twice the size: the element a + i b is the block [[a, -b], [b, a]]. Sums, products
// and adjoints are those of the real matrices, and so is everything that they define: solutions of systems, Cholesky
// factors, exponentials, pseudo-inverses, solutions of matrix equations. These have the native code and the derivatives
// of the real functions, at two to four times the arithmetic of complex ones.
#pragma once

#include <initializer_list>
#include <utility>

#include "bitale/ops/operand.hpp"
#include "ops/complex/complex.hpp"

namespace bitale {

inline bool any_complex(std::initializer_list<Variable> variables) {
  for (auto& each : variables)
    if (is_complex(each)) return true;
  return false;
}

// Converts both to their common dtype.
std::pair<Variable, Variable> in_common_dtype(const Variable& a, const Variable& b);
// x, with a check that its matrices are square. The ShapeError names `who` and the lengths of the complex matrices, not
// those of the real ones. It is thrown now if the lengths are known, otherwise when the function is called.
Variable required_square(const char* who, const Variable& x);
// x, with a check that two lengths are equal. The ShapeError with this message is thrown now if they are known,
// otherwise when the function is called.
Variable required_equal(const Variable& x, const Variable& a, const Variable& b, const std::string& message);
// a and b, with checks that they are square matrices of one size.
std::pair<Variable, Variable> required_square_pair(const char* who, const Variable& a, const Variable& b);
// [..., m, n] as real [..., 2 m, 2 n].
Variable as_blocks(const ComplexParts& parts);
Variable as_blocks(const Variable& z);
// The same of pairs of real numbers, [..., m, n, 2], and back.
Variable blocks_of_pairs(const Variable& pairs);
Variable pairs_of_blocks(const Variable& blocks);
// The right operand of a product with such a matrix: [..., n, k], or [..., n] if b_ndim is 1, as real [..., 2 n, k] or
// [..., 2 n]; and back.
Variable as_columns(const Variable& z, int b_ndim);
Variable columns_of_parts(const ComplexParts& parts, int b_ndim);
Variable of_columns(const Variable& columns, int b_ndim);
// The conjugate transposes of the matrices; of real ones, their transposes.
Variable adjoint(const Variable& z);
// The Hermitian matrix whose lower triangle (upper triangle, if not `lower`) is that of x. The imaginary parts of the
// diagonal are not read.
Variable hermitian(const Variable& x, bool lower);

}  // namespace bitale
