// The derivative of a Cholesky factor, in place and by blocks: Murray 2016, arXiv:1602.07527. A matrix product and two
// triangular systems give the same result, with six times as many operations.
#pragma once

#include <cstdint>

extern "C" {

// G[n, n], of which only the lower triangle is read, is the cotangent of the lower Cholesky factor L[n, n] of a matrix
// A. It is overwritten by the cotangent of A's lower triangle, with zeros above.
void bt_cholesky_gradient_f64(std::int64_t n, const double* L, double* G) noexcept;
void bt_cholesky_gradient_f32(std::int64_t n, const float* L, float* G) noexcept;
}

namespace bitale::runtime {

inline void cholesky_gradient(std::int64_t n, const double* L, double* G) { bt_cholesky_gradient_f64(n, L, G); }
inline void cholesky_gradient(std::int64_t n, const float* L, float* G) { bt_cholesky_gradient_f32(n, L, G); }

}  // namespace bitale::runtime
