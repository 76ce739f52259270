// Bounds of a variable's values, read off its expression: exp(x) is positive, sigmoid(x) lies between 0 and 1.
#pragma once

#include "bitale/graph/range.hpp"
#include "bitale/graph/variable.hpp"

namespace bitale {

// Looks a few levels deep; what no op says (Op::range) is unbounded, or bounded by its dtype. A condition that holds
// for all values within bounds has the range [1, 1].
Range range_of(const Variable& variable);

}  // namespace bitale
