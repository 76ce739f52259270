// Decompositions of complex matrices for generated code and for `perform`, by LAPACK, that real matrices have in
// another form or not at all (others: decompositions.hpp). A complex number is a pair of real ones: A[m, n] has 2 m n
// elements. A matrix with a nan or an infinity is never passed to LAPACK.
#pragma once

#include <cstdint>

namespace bitale::runtime {

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
