// Functions of lapack.hpp and lu.hpp for each of a batch of matrices. Matrices of up to 16 rows are computed several at
// a time, one in each lane of a vector (Highway, compiled for each instruction set): the steps of an elimination depend
// on each other, those of different matrices don't. Larger ones, and all where there are no vectors, one after the
// other.
//
// Matrix m of an argument A begins at A + m * step_A; a step of 0 repeats one matrix. Arguments are else those of the
// function for one matrix. A status is that of a matrix that failed, or 0.
#pragma once

#include <cstdint>

#include "runtime/vectors.hpp"

namespace bitale::runtime {

// Up to so many rows, and elements of right sides, matrices are computed in lanes.
inline constexpr std::int64_t most_lane_rows = 16, most_lane_elements = 256;

template <class T>
struct MatrixBatch {
  std::int64_t count, n;
  Vectors with = vectors();

  std::int64_t cholesky(std::int64_t step_A, bool lower, std::int64_t to_nan, T* A) const;
  std::int64_t solve_triangular(std::int64_t step_A, std::int64_t step_B, std::int64_t k, bool lower, bool trans,
                                bool unit, bool to_nan, const T* A, T* B) const;
  std::int64_t solve(std::int64_t step_A, std::int64_t step_B, std::int64_t k, bool trans, bool to_nan, const T* A,
                     T* B, T* factor, std::int32_t* pivots) const;
  void det(std::int64_t step_A, std::int64_t step_det, const T* A, T* det, T* factor, std::int32_t* pivots) const;
  void slogdet(std::int64_t step_A, std::int64_t step_sign, std::int64_t step_log, const T* A, T* sign, T* logabsdet,
               T* factor, std::int32_t* pivots) const;

 private:
  bool fits_lanes(std::int64_t k = 0) const;
};

// B[n, k] becomes X with op(A) X = B, where A[n, n] is a regular triangle of at most 16 rows and the columns of B are
// the lanes. False where there are no vectors: then nothing has been done.
template <class T>
bool solve_columns_in_lanes(std::int64_t n, std::int64_t k, bool lower, bool trans, bool unit, const T* A, T* B,
                            Vectors with = vectors());

// The upper triangle of A[n, n] becomes the transpose of the lower one, or the lower one that of the upper one. False
// where there are no vectors: then nothing has been done.
template <class T>
bool mirror_triangle(std::int64_t n, bool to_upper, T* A, Vectors with = vectors());

}  // namespace bitale::runtime

// For generated code.
extern "C" {
#define BITALE_BATCHES(suffix, T)                                                                                     \
  std::int64_t bt_cholesky_each_##suffix(std::int64_t count, std::int64_t step_A, std::int64_t n, std::int64_t lower, \
                                         std::int64_t to_nan, T* A) noexcept;                                         \
  std::int64_t bt_solve_triangular_each_##suffix(                                                                     \
      std::int64_t count, std::int64_t step_A, std::int64_t step_B, std::int64_t n, std::int64_t k,                   \
      std::int64_t lower, std::int64_t trans, std::int64_t unit, std::int64_t to_nan, const T* A, T* B) noexcept;     \
  std::int64_t bt_solve_each_##suffix(std::int64_t count, std::int64_t step_A, std::int64_t step_B, std::int64_t n,   \
                                      std::int64_t k, std::int64_t trans, std::int64_t to_nan, const T* A, T* B,      \
                                      T* factor, std::int32_t* pivots) noexcept;                                      \
  void bt_det_each_##suffix(std::int64_t count, std::int64_t step_A, std::int64_t step_det, std::int64_t n,           \
                            const T* A, T* det, T* factor, std::int32_t* pivots) noexcept;                            \
  void bt_slogdet_each_##suffix(std::int64_t count, std::int64_t step_A, std::int64_t step_sign,                      \
                                std::int64_t step_log, std::int64_t n, const T* A, T* sign, T* logabsdet, T* factor,  \
                                std::int32_t* pivots) noexcept;
BITALE_BATCHES(f64, double)
BITALE_BATCHES(f32, float)
#undef BITALE_BATCHES
}
