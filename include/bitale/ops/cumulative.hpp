// Cumulative sums and products, differences of neighbours, and extremes with an initial value. Names and arguments are
// NumPy's. An axis of nullopt means the flattened x. ValueError for an axis that does not exist.
#pragma once

#include <optional>

#include "bitale/ops/ops.hpp"

namespace bitale {

// The largest or smallest element over the axes, where `initial`, a scalar, counts as one more element, so x may be
// empty. ValueError where initial has dimensions, TypeError where x's dtype does not hold it.
Variable max(const Operand& x, const Axes& axis, KeepDims keepdims, const Operand& initial);
Variable min(const Operand& x, const Axes& axis, KeepDims keepdims, const Operand& initial);

// Cumulative sums and products: each is over all elements up to and including its position. Integers and bool give
// int64 or uint64.
Variable cumsum(const Operand& x, std::optional<int> axis = {});
Variable cumprod(const Operand& x, std::optional<int> axis = {});
// Differences of neighbours, x[1:] - x[:-1] (for bool: whether they differ), taken n times. ValueError for a negative
// n.
Variable diff(const Operand& x, int n = 1, int axis = -1);

}  // namespace bitale
