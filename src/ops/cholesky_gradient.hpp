// The derivative of Cholesky factors.
#pragma once

#include "bitale/graph/variable.hpp"

namespace bitale {

// The cotangent of the lower triangle of a matrix A, with zeros above it, from A's lower Cholesky factor L and its
// cotangent g. Only the lower triangle of g is read.
Variable cholesky_gradient(const Variable& factor, const Variable& g);

}  // namespace bitale
