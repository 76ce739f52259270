// The derivative of a Cholesky factor, in place and by blocks: Murray 2016, arXiv:1602.07527. A matrix product and two
// triangular systems give the same result, with six times as many operations.
#pragma once

#include <cstdint>

namespace bitale::runtime {

// G[n, n], of which only the lower triangle is read, is the cotangent of the lower Cholesky factor L[n, n] of a matrix
// A. It is overwritten by the cotangent of A's lower triangle, with zeros above.
template <class T>
void cholesky_gradient(std::int64_t n, const T* L, T* G) noexcept;

}  // namespace bitale::runtime
