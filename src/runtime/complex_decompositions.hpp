// Decompositions of complex matrices for generated code and for `perform`, by LAPACK: those of decompositions.hpp over
// pairs, and those that real matrices have in another form or not at all. A complex number is a pair of real ones:
// A[m, n] has 2 m n elements. A matrix with a nan or an infinity is never passed to LAPACK.
#pragma once

#include <complex>
#include <cstdint>

#include "runtime/decompositions.hpp"
#include "runtime/numbers.hpp"

namespace bitale::runtime {

template <class T>
constexpr auto complex_qr = over_pairs<qr<std::complex<T>>>;
template <class T>
constexpr auto complex_qr_pivoted = over_pairs<qr_pivoted<std::complex<T>>>;
template <class T>
constexpr auto complex_qr_raw = over_pairs<qr_raw<std::complex<T>>>;
template <class T>
constexpr auto complex_qr_raw_pivoted = over_pairs<qr_raw_pivoted<std::complex<T>>>;
template <class T>
constexpr auto complex_svd = over_pairs<svd<std::complex<T>>>;
template <class T>
constexpr auto complex_svdvals = over_pairs<svdvals<std::complex<T>>>;
template <class T>
constexpr auto complex_eigh = over_pairs<eigh<std::complex<T>>>;
template <class T>
constexpr auto complex_eigvalsh = over_pairs<eigvalsh<std::complex<T>>>;
template <class T>
constexpr auto complex_lu_factor = over_pairs<lu_factor<std::complex<T>>>;
template <class T>
constexpr auto complex_schur = over_pairs<schur<std::complex<T>>>;

// A V = V diag(w) for any matrix, complex or real; the columns of V have length 1 (geev).
template <class T>
std::int64_t complex_eig(std::int64_t n, const T* A, T* w, T* V) noexcept;
template <class T>
std::int64_t complex_eigvals(std::int64_t n, const T* A, T* w) noexcept;
template <class T>
std::int64_t eig(std::int64_t n, const T* A, T* w, T* V) noexcept;
template <class T>
std::int64_t eigvals(std::int64_t n, const T* A, T* w) noexcept;
// sign[1], of absolute value 1, and logarithm[1] of the absolute value of the determinant; 0 and -inf for a singular
// matrix.
template <class T>
std::int64_t complex_slogdet(std::int64_t n, const T* A, T* sign, T* logarithm) noexcept;
// A = Q S Z^H and B = Q P Z^H with unitary Q and Z, triangular S and P (gges); alpha[n] / beta[n] are the eigenvalues.
// sort: as in qz.
template <class T>
std::int64_t complex_qz(std::int64_t n, std::int64_t sort, const T* A, const T* B, T* S, T* P, T* Q, T* Z, T* alpha,
                        T* beta) noexcept;

}  // namespace bitale::runtime
