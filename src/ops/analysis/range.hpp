// Bounds of a variable's values, derived from its expression: exp(x) is positive, sigmoid(x) is between 0 and 1.
#pragma once

#include "bitale/graph/range.hpp"
#include "bitale/graph/variable.hpp"

namespace bitale {

// Searches a few levels deep; values for which no op declares a range (Op::range) are unbounded, or bounded by their
// dtype. A condition that holds for all values within bounds has the range [1, 1].
Range range_of(const Variable& variable);
constexpr int levels_of_ranges = 10;  // how deep, the deepest of the searches of this folder

}  // namespace bitale
