// Decompositions of matrices for generated code and for `perform`, by LAPACK in the library that is open for products
// (runtime/blas). Matrices are C-contiguous and row-major, of real or of complex numbers N. Each function returns 0, or
// a nonzero status: LAPACK's info if an iteration does not converge, no_work_memory, or no_lapack if the library has no
// such function. A matrix with a nan or an infinity is never passed to LAPACK, whose iterations might not terminate:
// its results are all nan. ^H is the adjoint, which is the transpose for real matrices.
#pragma once

#include <cstdint>

#include "runtime/numbers.hpp"

namespace bitale::runtime {

inline constexpr std::int64_t no_work_memory = -1001, no_lapack = -1002;
// What a status means, for messages: "the iteration did not converge", ...
const char* status_text(std::int64_t status);

// A[m, n] = Q R by Householder reflections (geqrf), with a real diagonal of R. k = min(m, n). Not `complete`: Q[m, k]
// and R[k, n]; `complete`: Q[m, m] and R[m, n].
template <class N>
std::int64_t qr(std::int64_t m, std::int64_t n, std::int64_t complete, const N* A, N* Q, N* R) noexcept;
// R[min(m, n), n] alone.
template <class N>
std::int64_t qr_r(std::int64_t m, std::int64_t n, const N* A, N* R) noexcept;
// The reflections below the diagonal of H[m, n], their factors tau[k], and R[k, n].
template <class N>
std::int64_t qr_raw(std::int64_t m, std::int64_t n, const N* A, N* H, N* tau, N* R) noexcept;
// The same with pivoting, as in qr_pivoted.
template <class N>
std::int64_t qr_raw_pivoted(std::int64_t m, std::int64_t n, const N* A, N* H, N* tau, N* R, std::int32_t* P) noexcept;
// A[:, P] = Q R, where the diagonal of R does not grow (geqp3); P[n] counts from 0.
template <class N>
std::int64_t qr_pivoted(std::int64_t m, std::int64_t n, std::int64_t complete, const N* A, N* Q, N* R,
                        std::int32_t* P) noexcept;

// A[m, n] = U diag(s) Vh, where s is real and descending. Not `full`: U[m, k], Vh[k, n]; `full`: U[m, m], Vh[n, n].
template <class N>
std::int64_t svd(std::int64_t m, std::int64_t n, std::int64_t full, const N* A, N* U, PartOf<N>* s, N* Vh) noexcept;
template <class N>
std::int64_t svdvals(std::int64_t m, std::int64_t n, const N* A, PartOf<N>* s) noexcept;

// A[n, n] = V diag(w) V^H for a symmetric or Hermitian matrix, of which one triangle is read (syevd, heevd); w is real
// and ascending.
template <class N>
std::int64_t eigh(std::int64_t n, std::int64_t lower, const N* A, PartOf<N>* w, N* V) noexcept;
template <class N>
std::int64_t eigvalsh(std::int64_t n, std::int64_t lower, const N* A, PartOf<N>* w) noexcept;

// LU factors of A[m, n] with partial pivoting (getrf), in LU[m, n], where L is stored without its diagonal of ones; row
// i was exchanged with row pivots[i], counted from 0. Singular matrices are factored as well.
template <class N>
std::int64_t lu_factor(std::int64_t m, std::int64_t n, const N* A, N* LU, std::int32_t* pivots) noexcept;

// A = Z T Z^H with triangular T, which is quasi-triangular for a real matrix (gees). sort: 0 none; 1 lhp, 2 rhp, 3 iuc,
// 4 ouc come first.
template <class N>
std::int64_t schur(std::int64_t n, std::int64_t sort, const N* A, N* upper, N* Z) noexcept;
// The same for a finite matrix in column-major order, n > 0, which is overwritten by T.
template <class N>
std::int64_t schur_by_columns(std::int64_t n, std::int64_t sort, N* columns, N* Z) noexcept;

}  // namespace bitale::runtime
