// Symmetry that an expression shows when two axes are exchanged: (x_i - x_j)^2, a sum of such terms over a third axis,
// a product of a matrix with its own transpose. Kernels of Gaussian processes are written so.
#pragma once

#include "bitale/graph/variable.hpp"

namespace bitale {

// Whether the matrix, or each of the batch, is seen to equal its transpose. Only some levels of the expression are
// searched.
bool is_seen_to_be_symmetric(const Variable& matrix);

}  // namespace bitale
