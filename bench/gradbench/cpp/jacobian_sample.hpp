// What tools and bundle adjustment's eval exchange of the sparse matrix of derivatives.
#pragma once

#include "protocol.hpp"

namespace gradbench {

// The first 30 elements of each vector of the matrix by rows, and the last: `block` has the two rows of the first
// observation, `last` is the derivative of the last weight's error. There are n cameras, m points, p observations.
Json jacobian_sample(const double* block, double last, std::int64_t n, std::int64_t m, std::int64_t p);

}  // namespace gradbench
