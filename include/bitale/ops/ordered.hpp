// Functions for which the order of the elements along an axis matters: running sums and products, differences of
// neighbours, sorting. Names and arguments are NumPy's; nullopt as axis: of the flattened x. ValueError for an axis
// that is not there.
#pragma once

#include <optional>

#include "bitale/ops/ops.hpp"

namespace bitale {

// The largest or smallest element over the axes, where `initial`, a scalar, counts as one more: x may have none.
// ValueError where initial has dimensions, TypeError where x's dtype does not hold it.
Variable max(const Operand& x, const Axes& axis, bool keepdims, const Operand& initial);
Variable min(const Operand& x, const Axes& axis, bool keepdims, const Operand& initial);

// Sums and products of all elements up to and including each. Integers and bool give int64 or uint64.
Variable cumsum(const Operand& x, std::optional<int> axis = {});
Variable cumprod(const Operand& x, std::optional<int> axis = {});
// n times the differences of neighbours, x[1:] - x[:-1] (of bool: whether they differ). ValueError for a negative n.
Variable diff(const Operand& x, int n = 1, int axis = -1);
// In increasing order, nan last.
Variable sort(const Operand& x, std::optional<int> axis = -1);
// The positions that sort(x, axis) takes its elements from, int64; equal elements keep their order.
Variable argsort(const Operand& x, std::optional<int> axis = -1);

}  // namespace bitale
