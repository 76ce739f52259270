// Symmetry that an expression shows when two axes are exchanged: (x_i - x_j)^2, a sum of such terms over a third axis,
// a product of a matrix with its own transpose. Kernels of Gaussian processes are written so.
#pragma once

#include <cstdint>
#include <span>

#include "bitale/graph/variable.hpp"

namespace bitale {

// What an exchange of two axes makes of a tensor: nothing that is known, another tensor, or the negative of that.
enum class Exchanged : std::int8_t { unknown = 0, same = 1, negated = -1 };

// Of a matrix, or of each of a batch, and itself: whether it is seen to be symmetric or skew-symmetric. Only some
// levels of the expression are searched, so that it is meant for reductions and products, which a search begins at.
Exchanged exchanged_matrix(const Variable& matrix);
// The same for an elementwise node, by what is known of its operands.
Exchanged exchanged_elements(const Apply& node, std::span<const Exchanged> operands);

// A matrix without the factors that scale its columns (or its rows), or all elements: a of a d in a d a^T.
Variable without_scaling(Variable matrix, bool of_columns);

}  // namespace bitale
