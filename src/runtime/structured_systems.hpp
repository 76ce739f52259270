// Systems of equations whose matrix has a structure that LAPACK can use, and the generalized Schur form, for generated
// code and for `perform`. Matrices are C-contiguous and row-major. Each function returns 0, a status as in
// runtime/decompositions.hpp, or the first row, counted from 1, without a pivot.
#pragma once

#include <cstdint>

#include "runtime/decompositions.hpp"

namespace bitale::runtime {

// Solves A X = B in place, for B[n, k] and a symmetric A[n, n] (sysv reads one triangle of it). `as_nan`: for a
// singular matrix, X is nan and the status 0. The last arguments are scratch, of n n and n elements.
template <class T>
std::int64_t solve_symmetric(std::int64_t n, std::int64_t k, std::int64_t as_nan, const T* A, T* B, T* factor,
                             std::int32_t* pivots) noexcept;

// The same for any A, or its transpose, whose bands are found by their zeros (gbtrf, gbtrs).
template <class T>
std::int64_t solve_by_bands(std::int64_t n, std::int64_t k, std::int64_t trans, std::int64_t as_nan, const T* A, T* B,
                            T* factor, std::int32_t* pivots) noexcept;

// The same for a matrix given as ab[below + above + 1, n], where a[i, j] is ab[above + i - j, j]. ab's other elements
// are not read. The last arguments are scratch, of (2 below + above + 1) n and n elements.
template <class T>
std::int64_t solve_banded(std::int64_t n, std::int64_t k, std::int64_t below, std::int64_t above, std::int64_t trans,
                          const T* ab, T* B, T* bands, std::int32_t* pivots) noexcept;

// LU factors of the tridiagonal matrix with the diagonals lower[n - 1], d[n] and upper[n - 1] with partial pivoting
// (gttrf): factors[n - 1], the diagonals U[n], U1[n - 1] and U2[n - 2], and pivots[n], which count from 0. A singular
// matrix is factored as well.
template <class T>
std::int64_t tridiagonal_lu_factor(std::int64_t n, const T* lower, const T* d, const T* upper, T* factors, T* U, T* U1,
                                   T* U2, std::int32_t* pivots) noexcept;
inline constexpr std::int64_t bad_pivots = -1004;
// Solves A X = B, or A^T X = B, in place, for B[n, k] and these factors (gttrs). bad_pivots: these are no pivots.
template <class T>
std::int64_t tridiagonal_lu_solve(std::int64_t n, std::int64_t k, std::int64_t trans, const T* factors, const T* U,
                                  const T* U1, const T* U2, const std::int32_t* pivots, T* B) noexcept;
// The same for complex numbers, as pairs; A^T is not conjugated.
template <class T>
std::int64_t complex_tridiagonal_lu_factor(std::int64_t n, const T* lower, const T* d, const T* upper, T* factors, T* U,
                                           T* U1, T* U2, std::int32_t* pivots) noexcept;
template <class T>
std::int64_t complex_tridiagonal_lu_solve(std::int64_t n, std::int64_t k, std::int64_t trans, const T* factors,
                                          const T* U, const T* U1, const T* U2, const std::int32_t* pivots,
                                          T* B) noexcept;

// A = Q S Z^T and B = Q P Z^T with orthogonal Q and Z, S quasi-triangular and P triangular (gges); alpha[n, 2] /
// beta[n] are the eigenvalues, real and imaginary parts. sort: as in schur, for alpha / beta.
template <class T>
std::int64_t qz(std::int64_t n, std::int64_t sort, const T* A, const T* B, T* S, T* P, T* Q, T* Z, T* alpha,
                T* beta) noexcept;

}  // namespace bitale::runtime
