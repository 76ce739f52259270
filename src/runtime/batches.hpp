// Functions of lapack.hpp and lu.hpp for each matrix of a batch. Matrices of up to 16 rows are computed several at a
// time, one in each lane of a vector (Highway, compiled for each instruction set): the steps of one elimination depend
// on each other, but those of different matrices do not. Larger matrices, and all matrices if there are no vectors, are
// computed one at a time.
//
// Matrix m of an argument A begins at A + m * step_A; a step of 0 repeats one matrix. The other arguments are those of
// the function for one matrix. A status is that of a matrix that failed, or 0.
#pragma once

#include <cstdint>

#include "runtime/vectors.hpp"

namespace bitale::runtime {

// Matrices are computed in lanes if they have at most this many rows, and right-hand sides this many elements.
inline constexpr std::int64_t max_lane_rows = 16, max_lane_elements = 256;

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

// Solves op(A) X = B in place, for B[n, k] and a nonsingular triangular A[n, n] of at most 16 rows; the columns of B
// are the lanes. Returns false, with nothing done, if there are no vectors.
template <class T>
bool solve_columns_in_lanes(std::int64_t n, std::int64_t k, bool lower, bool trans, bool unit, const T* A, T* B,
                            Vectors with = vectors());

// Copies the lower triangle of A[n, n], transposed, to the upper one, or the upper one to the lower one. Returns false,
// with nothing done, if there are no vectors.
template <class T>
bool mirror_triangle(std::int64_t n, bool to_upper, T* A, Vectors with = vectors());

}  // namespace bitale::runtime

// The entry points for generated code.
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
