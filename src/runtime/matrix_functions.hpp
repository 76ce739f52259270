// Functions of matrices and matrix equations for generated code and for `perform`, built from decompositions and
// products. Matrices are C-contiguous and row-major. Each function returns 0, or a status as in
// runtime/decompositions.hpp; a nan or an infinity in the arguments gives a result that is all nan.
#pragma once

#include <cstdint>

#include "runtime/decompositions.hpp"

namespace bitale::runtime {

// The pseudo-inverse X[n, m] of A[m, n]. Singular values up to rcond times the largest are treated as 0; a negative
// rcond means max(m, n) eps.
template <class N>
std::int64_t pinv(std::int64_t m, std::int64_t n, double rcond, const N* A, N* X) noexcept;

// X[n, k] of least norm with the least |A X - B|, the rank of A[m, n] and its singular values.
template <class N>
std::int64_t lstsq(std::int64_t m, std::int64_t n, std::int64_t k, double rcond, const N* A, const N* B, N* X,
                   std::int64_t* rank, PartOf<N>* s) noexcept;

// X[m, n] with A X + X B = Q, by Schur forms (Bartels and Stewart 1972). `singular_equation` if A and -B share an
// eigenvalue.
inline constexpr std::int64_t singular_equation = -1003;
template <class N>
std::int64_t solve_sylvester(std::int64_t m, std::int64_t n, const N* A, const N* B, const N* Q, N* X) noexcept;

// Solves A X = B in place, for B[n, k] and a tridiagonal A with the diagonals lower[n - 1], d[n] and upper[n - 1], by
// elimination with partial pivoting; work: 4 n elements. Returns 0, or the first row, counted from 1, without a
// pivot.
template <class T>
std::int64_t solve_tridiagonal(std::int64_t n, std::int64_t k, const T* lower, const T* d, const T* upper, T* B,
                               T* work) noexcept;

}  // namespace bitale::runtime
