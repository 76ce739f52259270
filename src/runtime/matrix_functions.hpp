// Functions of matrices and matrix equations for generated code and for `perform`, built from decompositions and
// products. Matrices are C-contiguous and row-major. Each function returns 0, or a status as in
// runtime/decompositions.hpp; a nan or an infinity in the arguments gives a result that is all nan.
#pragma once

#include <cstdint>

#include "runtime/decompositions.hpp"

namespace bitale::runtime {

// The pseudo-inverse X[n, m] of A[m, n]. Singular values up to rcond times the largest are treated as 0; a negative
// rcond means max(m, n) eps.
template <class T>
std::int64_t pinv(std::int64_t m, std::int64_t n, double rcond, const T* A, T* X) noexcept;

// X[n, k] of least norm with the least |A X - B|, the rank of A[m, n] and its singular values.
template <class T>
std::int64_t lstsq(std::int64_t m, std::int64_t n, std::int64_t k, double rcond, const T* A, const T* B, T* X,
                   std::int64_t* rank, T* s) noexcept;

// The exponential of A[n, n] (Higham 2005: scaling, a Pade approximant of order 13, squaring). Up to this norm, the
// approximant is accurate to rounding.
inline constexpr double expm_limit = 5.371920351148152;
inline constexpr double expm_coefficients[] = {64764752532480000.,
                                               32382376266240000.,
                                               7771770303897600.,
                                               1187353796428800.,
                                               129060195264000.,
                                               10559470521600.,
                                               670442572800.,
                                               33522128640.,
                                               1323241920.,
                                               40840800.,
                                               960960.,
                                               16380.,
                                               182.,
                                               1.};
template <class T>
std::int64_t expm(std::int64_t n, const T* A, T* X) noexcept;

// X[m, n] with A X + X B = Q, by Schur forms (Bartels and Stewart 1972). `singular_equation` if A and -B share an
// eigenvalue.
inline constexpr std::int64_t singular_equation = -1003;
template <class N>
std::int64_t solve_sylvester(std::int64_t m, std::int64_t n, const N* A, const N* B, const N* Q, N* X) noexcept;
template <class T>
constexpr auto complex_solve_sylvester = over_pairs<solve_sylvester<std::complex<T>>>;

// Solves A X = B in place, for B[n, k] and a tridiagonal A with the diagonals lower[n - 1], d[n] and upper[n - 1], by
// elimination with partial pivoting; work: 4 n elements. Returns 0, or the first place, counted from 1, without a
// pivot.
template <class T>
std::int64_t solve_tridiagonal(std::int64_t n, std::int64_t k, const T* lower, const T* d, const T* upper, T* B,
                               T* work) noexcept;

// The stabilising X[n, n] with X = A^T X A - A^T X B (R + B^T X B)^-1 B^T X A + Q, by doubling (Chu, Fan, Lin and Wang
// 2004); B is [n, m]. Only the symmetric parts of Q and R are used.
template <class T>
std::int64_t solve_discrete_are(std::int64_t n, std::int64_t m, const T* A, const T* B, const T* Q, const T* R,
                                T* X) noexcept;

// The stabilising X[n, n] with A^T X + X A - X B R^-1 B^T X + Q = 0, from the stable subspace of the Hamiltonian matrix
// (Laub 1979), and a step of Newton's method (Kleinman 1968); B is [n, m]. Only the symmetric parts of Q and R are
// used.
template <class T>
std::int64_t solve_continuous_are(std::int64_t n, std::int64_t m, const T* A, const T* B, const T* Q, const T* R,
                                  T* X) noexcept;

}  // namespace bitale::runtime
