// Factorisations of matrices for generated code and for `perform`: plain C functions over contiguous row-major
// matrices, in place. They call LAPACK's Fortran symbols and CBLAS in the library that is open for products
// (runtime/blas); small matrices, and all matrices if that library has no such function, are handled by plain loops.
// LAPACK sees row-major matrices transposed: triangles are exchanged, and nothing is copied.
#pragma once

#include <complex>
#include <cstdint>

extern "C" {

// A[n, n], symmetric and positive definite, of which one triangle is read, is overwritten by its Cholesky factor: L
// with L L^T = A in the lower triangle, or U with U^T U = A in the upper one, and zeros in the other. Returns 0, or the
// order of the first leading minor that is not positive definite (also for nan), and A is then undefined. With
// `to_nan`, A is all nan instead, and 0 is returned.
std::int64_t bt_cholesky_f64(std::int64_t n, std::int64_t lower, std::int64_t to_nan, double* A) noexcept;
std::int64_t bt_cholesky_f32(std::int64_t n, std::int64_t lower, std::int64_t to_nan, float* A) noexcept;

// Solves op(A) X = B in place, for B[n, k] and a triangular A[n, n], the other triangle of which is not read; with
// `unit`, its diagonal is ones and not read. Returns 0, or the first index, counted from 1, at which the diagonal is 0,
// and B is then unchanged. With `to_nan`, B is all nan instead, and 0 is returned.
std::int64_t bt_solve_triangular_f64(std::int64_t n, std::int64_t k, std::int64_t lower, std::int64_t trans,
                                     std::int64_t unit, std::int64_t to_nan, const double* A, double* B) noexcept;
std::int64_t bt_solve_triangular_f32(std::int64_t n, std::int64_t k, std::int64_t lower, std::int64_t trans,
                                     std::int64_t unit, std::int64_t to_nan, const float* A, float* B) noexcept;

// The same for complex numbers, which are pairs: A[n, n] has 2 n n elements. What is symmetric above is Hermitian here,
// and the imaginary parts of its diagonal are not read. trans: 0 for A, 1 for its transpose, 2 for its adjoint.
std::int64_t bt_complex_cholesky_f64(std::int64_t n, std::int64_t lower, std::int64_t to_nan, double* A) noexcept;
std::int64_t bt_complex_cholesky_f32(std::int64_t n, std::int64_t lower, std::int64_t to_nan, float* A) noexcept;
std::int64_t bt_complex_solve_triangular_f64(std::int64_t n, std::int64_t k, std::int64_t lower, std::int64_t trans,
                                             std::int64_t unit, std::int64_t to_nan, const double* A,
                                             double* B) noexcept;
std::int64_t bt_complex_solve_triangular_f32(std::int64_t n, std::int64_t k, std::int64_t lower, std::int64_t trans,
                                             std::int64_t unit, std::int64_t to_nan, const float* A, float* B) noexcept;
}

namespace bitale::runtime {

// The same, by type.
inline std::int64_t cholesky(std::int64_t n, bool lower, std::int64_t to_nan, double* A) {
  return bt_cholesky_f64(n, lower, to_nan, A);
}
inline std::int64_t cholesky(std::int64_t n, bool lower, std::int64_t to_nan, float* A) {
  return bt_cholesky_f32(n, lower, to_nan, A);
}
inline std::int64_t solve_triangular(std::int64_t n, std::int64_t k, bool lower, bool trans, bool unit, bool to_nan,
                                     const double* A, double* B) {
  return bt_solve_triangular_f64(n, k, lower, trans, unit, to_nan, A, B);
}
inline std::int64_t solve_triangular(std::int64_t n, std::int64_t k, bool lower, bool trans, bool unit, bool to_nan,
                                     const float* A, float* B) {
  return bt_solve_triangular_f32(n, k, lower, trans, unit, to_nan, A, B);
}
#define BITALE_COMPLEX_SYSTEMS(T, suffix)                                                                              \
  inline std::int64_t complex_cholesky(std::int64_t n, bool lower, std::int64_t to_nan, T* A) {                        \
    return bt_complex_cholesky_##suffix(n, lower, to_nan, A);                                                          \
  }                                                                                                                    \
  inline std::int64_t complex_solve_triangular(std::int64_t n, std::int64_t k, bool lower, std::int64_t trans,         \
                                               bool unit, bool to_nan, const T* A, T* B) {                             \
    return bt_complex_solve_triangular_##suffix(n, k, lower, trans, unit, to_nan, A, B);                               \
  }                                                                                                                    \
  inline std::int64_t solve_triangular(std::int64_t n, std::int64_t k, bool lower, bool trans, bool unit, bool to_nan, \
                                       const std::complex<T>* A, std::complex<T>* B) {                                 \
    return complex_solve_triangular(n, k, lower, trans, unit, to_nan, reinterpret_cast<const T*>(A),                   \
                                    reinterpret_cast<T*>(B));                                                          \
  }
BITALE_COMPLEX_SYSTEMS(double, f64)
BITALE_COMPLEX_SYSTEMS(float, f32)
#undef BITALE_COMPLEX_SYSTEMS

}  // namespace bitale::runtime
