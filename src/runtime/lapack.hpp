// Factorisations of matrices for generated code and for `perform`, in place, over contiguous row-major matrices of real
// or of complex numbers N. They call LAPACK's Fortran symbols and CBLAS in the library that is open for products
// (runtime/blas); small matrices, and all matrices if that library has no such function, are handled by plain loops.
// LAPACK sees row-major matrices transposed: triangles are exchanged, and nothing is copied.
#pragma once

#include <cstdint>

namespace bitale::runtime {

// A[n, n], symmetric or Hermitian and positive definite, of which one triangle is read, but no imaginary parts of its
// diagonal, is overwritten by its Cholesky factor: L with L L^H = A in the lower triangle, or U with U^H U = A in the
// upper one, and zeros in the other. Returns 0, or the order of the first leading minor that is not positive definite
// (also for nan), and A is then undefined. With `to_nan`, A is all nan instead, and 0 is returned: always for 1, for a
// pivot that is not finite for 2.
template <class N>
std::int64_t cholesky(std::int64_t n, std::int64_t lower, std::int64_t to_nan, N* A) noexcept;

// Solves op(A) X = B in place, for B[n, k] and a triangular A[n, n], the other triangle of which is not read; with
// `unit`, its diagonal is ones and not read. trans: 0 for A, 1 for its transpose, 2 for its adjoint. Returns 0, or the
// first index, counted from 1, at which the diagonal is 0, and B is then unchanged. With `to_nan`, B is all nan
// instead, and 0 is returned.
template <class N>
std::int64_t solve_triangular(std::int64_t n, std::int64_t k, std::int64_t lower, std::int64_t trans, std::int64_t unit,
                              std::int64_t to_nan, const N* A, N* B) noexcept;

}  // namespace bitale::runtime
