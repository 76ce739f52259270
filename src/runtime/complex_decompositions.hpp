// Decompositions of complex matrices for generated code and for `perform`, by LAPACK. A complex number is a pair of
// real ones: A[m, n] has 2 m n elements. Results are as those of decompositions.hpp; a matrix with a nan or an infinity
// never reaches LAPACK.
#pragma once

#include <cstdint>

namespace bitale::runtime {

// A = Q R (geqrf) with a real diagonal of R; Q[m, k] and R[k, n], or Q[m, m] and R[m, n] when `complete`.
template <class T>
std::int64_t complex_qr(std::int64_t m, std::int64_t n, std::int64_t complete, const T* A, T* Q, T* R) noexcept;
// A[:, P] = Q R with a diagonal of R that does not grow (geqp3); P[n] counts from 0.
template <class T>
std::int64_t complex_qr_pivoted(std::int64_t m, std::int64_t n, std::int64_t complete, const T* A, T* Q, T* R,
                                std::int32_t* P) noexcept;
// The reflections below the diagonal of H[m, n], their factors tau[k], and R[k, n]; with pivoting, or without.
template <class T>
std::int64_t complex_qr_raw(std::int64_t m, std::int64_t n, const T* A, T* H, T* tau, T* R) noexcept;
template <class T>
std::int64_t complex_qr_raw_pivoted(std::int64_t m, std::int64_t n, const T* A, T* H, T* tau, T* R,
                                    std::int32_t* P) noexcept;
// A = U diag(s) Vh (gesdd), s being real.
template <class T>
std::int64_t complex_svd(std::int64_t m, std::int64_t n, std::int64_t full, const T* A, T* U, T* s, T* Vh) noexcept;
template <class T>
std::int64_t complex_svdvals(std::int64_t m, std::int64_t n, const T* A, T* s) noexcept;
// A V = V diag(w) of a Hermitian matrix of which one triangle is read (heevd), w being real and rising.
template <class T>
std::int64_t complex_eigh(std::int64_t n, std::int64_t lower, const T* A, T* w, T* V) noexcept;
template <class T>
std::int64_t complex_eigvalsh(std::int64_t n, std::int64_t lower, const T* A, T* w) noexcept;
// A V = V diag(w) of any matrix, complex or real; columns of V have length 1 (geev).
template <class T>
std::int64_t complex_eig(std::int64_t n, const T* A, T* w, T* V) noexcept;
template <class T>
std::int64_t complex_eigvals(std::int64_t n, const T* A, T* w) noexcept;
template <class T>
std::int64_t eig(std::int64_t n, const T* A, T* w, T* V) noexcept;
template <class T>
std::int64_t eigvals(std::int64_t n, const T* A, T* w) noexcept;
// LU factors as those of lu_factor (getrf).
template <class T>
std::int64_t complex_lu_factor(std::int64_t m, std::int64_t n, const T* A, T* LU, std::int32_t* pivots) noexcept;
// sign[1], of absolute value 1, and logarithm[1] of the absolute value of the determinant; 0 and -inf of a singular
// matrix.
template <class T>
std::int64_t complex_slogdet(std::int64_t n, const T* A, T* sign, T* logarithm) noexcept;
// A = Z upper Z^H (gees); sort as that of schur.
template <class T>
std::int64_t complex_schur(std::int64_t n, std::int64_t sort, const T* A, T* upper, T* Z) noexcept;
// A[m, m] X + X B[n, n] = Q[m, n] by Schur forms (trsyl). 1 where A and -B share an eigenvalue.
template <class T>
std::int64_t complex_solve_sylvester(std::int64_t m, std::int64_t n, const T* A, const T* B, const T* Q, T* X) noexcept;
// A = Q S Z^H and B = Q P Z^H with unitary Q and Z, triangular S and P (gges); alpha[n] / beta[n] are the eigenvalues.
// sort: as that of qz.
template <class T>
std::int64_t complex_qz(std::int64_t n, std::int64_t sort, const T* A, const T* B, T* S, T* P, T* Q, T* Z, T* alpha,
                        T* beta) noexcept;

}  // namespace bitale::runtime
