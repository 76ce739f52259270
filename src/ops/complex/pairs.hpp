// Complex tensors as pairs of real numbers along a new last axis, for ops that compute on real tensors only.
#pragma once

#include "bitale/graph/variable.hpp"

namespace bitale {

// z as pairs of real numbers, and the inverse.
Variable as_pairs(const Variable& z);
Variable of_pairs(const Variable& pairs);

}  // namespace bitale
