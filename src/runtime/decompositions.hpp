// Decompositions of matrices for generated code and for `perform`, by LAPACK in the library that is open for products
// (runtime/blas). Matrices are C-contiguous and row-major. Each function returns 0, or a number that is not: LAPACK's
// info where an iteration does not converge, no_work_memory, or no_lapack where the library has no such function. A
// matrix with a nan or an infinity never reaches LAPACK, whose iterations need not end on it: its results are all nan.
#pragma once

#include <cstdint>

namespace bitale::runtime {

inline constexpr std::int64_t no_work_memory = -1001, no_lapack = -1002;
// What a status means, for messages: "the iteration did not converge", ...
const char* status_text(std::int64_t status);

// A[m, n] = Q R by Householder reflections (geqrf). k = min(m, n). Not `complete`: Q[m, k] and R[k, n]; `complete`:
// Q[m, m] and R[m, n].
template <class T>
std::int64_t qr(std::int64_t m, std::int64_t n, std::int64_t complete, const T* A, T* Q, T* R) noexcept;
// R[min(m, n), n] alone.
template <class T>
std::int64_t qr_r(std::int64_t m, std::int64_t n, const T* A, T* R) noexcept;
// The reflections below the diagonal of H[m, n], their factors tau[k], and R[k, n].
template <class T>
std::int64_t qr_raw(std::int64_t m, std::int64_t n, const T* A, T* H, T* tau, T* R) noexcept;
// The same with pivoting, as qr_pivoted has it.
template <class T>
std::int64_t qr_raw_pivoted(std::int64_t m, std::int64_t n, const T* A, T* H, T* tau, T* R, std::int32_t* P) noexcept;
// A[:, P] = Q R with a diagonal of R that does not grow (geqp3); P[n] counts from 0.
template <class T>
std::int64_t qr_pivoted(std::int64_t m, std::int64_t n, std::int64_t complete, const T* A, T* Q, T* R,
                        std::int32_t* P) noexcept;

// A[m, n] = U diag(s) Vt (gesdd). Not `full`: U[m, k], Vt[k, n]; `full`: U[m, m], Vt[n, n]. s falls.
template <class T>
std::int64_t svd(std::int64_t m, std::int64_t n, std::int64_t full, const T* A, T* U, T* s, T* Vt) noexcept;
template <class T>
std::int64_t svdvals(std::int64_t m, std::int64_t n, const T* A, T* s) noexcept;

// A[n, n] = V diag(w) V^T of a symmetric matrix of which one triangle is read (syevd); w rises.
template <class T>
std::int64_t eigh(std::int64_t n, std::int64_t lower, const T* A, T* w, T* V) noexcept;
template <class T>
std::int64_t eigvalsh(std::int64_t n, std::int64_t lower, const T* A, T* w) noexcept;

// LU factors of A[m, n] with partial pivoting (getrf), L without its diagonal of ones, in LU[m, n]; row i was exchanged
// with row pivots[i], which count from 0. A singular matrix is factored as well.
template <class T>
std::int64_t lu_factor(std::int64_t m, std::int64_t n, const T* A, T* LU, std::int32_t* pivots) noexcept;

// A = Z T Z^T with T quasi-triangular (gees). sort: 0 none; 1 lhp, 2 rhp, 3 iuc, 4 ouc come first.
template <class T>
std::int64_t schur(std::int64_t n, std::int64_t sort, const T* A, T* upper, T* Z) noexcept;

}  // namespace bitale::runtime
