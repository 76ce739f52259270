// Sums over consecutive parts of a tensor, as the rows of a sparse matrix in compressed form have them. The bounds of
// the parts are a vector of one more element than there are parts: part i begins at bounds[i] and ends before
// bounds[i + 1].
#pragma once

#include "bitale/ops/operand.hpp"

namespace bitale {

// The sum of each part of `x` along its first dimension, in x's dtype (truth values: whether any is true). ValueError
// when bounds decrease or are out of range: now if they are constant, otherwise when a function is called.
Variable segment_sum(const Operand& x, const Operand& bounds);
// The number of the part of each of `count` elements. The bounds go from 0 to `count`; ValueError as for segment_sum.
Variable segment_ids(const Operand& bounds, const Operand& count);

}  // namespace bitale
