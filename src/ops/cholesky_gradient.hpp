// The derivative of Cholesky factors.
#pragma once

#include "bitale/graph/variable.hpp"

namespace bitale {

// Of the lower factor L of a matrix A, and its cotangent g, of which the lower triangle is read: the cotangent of A's
// lower triangle, zeros above.
Variable cholesky_gradient(const Variable& factor, const Variable& g);

}  // namespace bitale
