// General systems of equations and determinants, for generated code and for `perform`, by LU factors with partial
// pivoting: LAPACK's getrf if the library of the products has it, plain loops for small matrices and otherwise.
// Matrices are C-contiguous and row-major; `factor` (n * n elements) and `pivots` (n) are scratch.
#pragma once

#include <complex>
#include <cstdint>

extern "C" {

// Solves A X = B, or A^T X = B with `trans`, in place, for B[n, k]. Returns 0, or the first row, counted from 1,
// without a pivot: A is then singular, and B unchanged. With `to_nan`, B is all nan instead, and 0 is returned.
std::int64_t bt_solve_f64(std::int64_t n, std::int64_t k, std::int64_t trans, std::int64_t to_nan, const double* A,
                          double* B, double* factor, std::int32_t* pivots) noexcept;
std::int64_t bt_solve_f32(std::int64_t n, std::int64_t k, std::int64_t trans, std::int64_t to_nan, const float* A,
                          float* B, float* factor, std::int32_t* pivots) noexcept;
// The same for complex numbers, which are pairs. trans: 0 for A, 1 for its transpose, 2 for its adjoint.
std::int64_t bt_complex_solve_f64(std::int64_t n, std::int64_t k, std::int64_t trans, std::int64_t to_nan,
                                  const double* A, double* B, double* factor, std::int32_t* pivots) noexcept;
std::int64_t bt_complex_solve_f32(std::int64_t n, std::int64_t k, std::int64_t trans, std::int64_t to_nan,
                                  const float* A, float* B, float* factor, std::int32_t* pivots) noexcept;

// The determinant: 0 for a singular matrix, 1 for an empty one.
void bt_det_f64(std::int64_t n, const double* A, double* det, double* factor, std::int32_t* pivots) noexcept;
void bt_det_f32(std::int64_t n, const float* A, float* det, float* factor, std::int32_t* pivots) noexcept;

// Its sign and the logarithm of its absolute value: 0 and -inf for a singular matrix.
void bt_slogdet_f64(std::int64_t n, const double* A, double* sign, double* logabsdet, double* factor,
                    std::int32_t* pivots) noexcept;
void bt_slogdet_f32(std::int64_t n, const float* A, float* sign, float* logabsdet, float* factor,
                    std::int32_t* pivots) noexcept;
}

namespace bitale::runtime {

// The same, by type.
#define BITALE_LU(T, suffix)                                                                                           \
  inline std::int64_t solve(std::int64_t n, std::int64_t k, bool trans, bool to_nan, const T* A, T* B, T* factor,      \
                            std::int32_t* pivots) {                                                                    \
    return bt_solve_##suffix(n, k, trans, to_nan, A, B, factor, pivots);                                               \
  }                                                                                                                    \
  inline std::int64_t complex_solve(std::int64_t n, std::int64_t k, std::int64_t trans, bool to_nan, const T* A, T* B, \
                                    T* factor, std::int32_t* pivots) {                                                 \
    return bt_complex_solve_##suffix(n, k, trans, to_nan, A, B, factor, pivots);                                       \
  }                                                                                                                    \
  inline std::int64_t solve(std::int64_t n, std::int64_t k, std::int64_t trans, bool to_nan, const std::complex<T>* A, \
                            std::complex<T>* B, std::complex<T>* factor, std::int32_t* pivots) {                       \
    return complex_solve(n, k, trans, to_nan, reinterpret_cast<const T*>(A), reinterpret_cast<T*>(B),                  \
                         reinterpret_cast<T*>(factor), pivots);                                                        \
  }                                                                                                                    \
  inline void det(std::int64_t n, const T* A, T* out, T* factor, std::int32_t* pivots) {                               \
    bt_det_##suffix(n, A, out, factor, pivots);                                                                        \
  }                                                                                                                    \
  inline void slogdet(std::int64_t n, const T* A, T* sign, T* logabsdet, T* factor, std::int32_t* pivots) {            \
    bt_slogdet_##suffix(n, A, sign, logabsdet, factor, pivots);                                                        \
  }
BITALE_LU(double, f64)
BITALE_LU(float, f32)
#undef BITALE_LU

}  // namespace bitale::runtime
