// The derivative of Cholesky factors.
#pragma once

#include "bitale/graph/variable.hpp"

namespace bitale {

// The cotangent of the lower triangle of a matrix A (or of each of a batch), with zeros above it, from A's lower
// Cholesky factor L and its cotangent g. Only the lower triangle of g is read.
Variable cholesky_gradient(const Variable& factor, const Variable& g);

// The lower triangle with half the diagonal: Phi in the derivatives of I. Murray, "Differentiation of the Cholesky
// decomposition", 2016.
Variable lower_half(const Variable& x);

}  // namespace bitale
