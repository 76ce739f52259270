// General systems of equations and determinants, for generated code and for `perform`, by LU factors with partial
// pivoting: LAPACK's getrf if the library of the products has it, plain loops for small matrices and otherwise.
// Matrices are C-contiguous and row-major, of real or of complex numbers N; `factor` (n * n elements) and `pivots` (n)
// are scratch.
#pragma once

#include <cstdint>

namespace bitale::runtime {

// Solves op(A) X = B in place, for B[n, k]. trans: 0 for A, 1 for its transpose, 2 for its adjoint. Returns 0, or the
// first row, counted from 1, without a pivot: A is then singular, and B unchanged. With `to_nan`, B is all nan instead,
// and 0 is returned.
template <class N>
std::int64_t solve(std::int64_t n, std::int64_t k, std::int64_t trans, std::int64_t to_nan, const N* A, N* B, N* factor,
                   std::int32_t* pivots) noexcept;

// The determinant: 0 for a singular matrix, 1 for an empty one.
template <class T>
void det(std::int64_t n, const T* A, T* det, T* factor, std::int32_t* pivots) noexcept;

// Its sign and the logarithm of its absolute value: 0 and -inf for a singular matrix.
template <class T>
void slogdet(std::int64_t n, const T* A, T* sign, T* logabsdet, T* factor, std::int32_t* pivots) noexcept;

}  // namespace bitale::runtime
