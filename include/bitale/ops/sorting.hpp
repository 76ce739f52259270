// Sorting: increasing, decreasing, by several keys, and partitions. Names and arguments are NumPy's, and the array-API
// standard's for decreasing orders.
#pragma once

#include <optional>
#include <vector>

#include "bitale/ops/operand.hpp"

namespace bitale {

// The elements in increasing order, nan last.
Variable sort(const Operand& x, std::optional<int> axis = -1);
// The positions that sort(x, axis) takes its elements from, int64; equal elements keep their order.
Variable argsort(const Operand& x, std::optional<int> axis = -1);
// The elements rearranged along an axis (nullopt: flattened) such that those at these positions are where a sort has
// them, with the smaller ones before and the larger ones behind. All are sorted, which fulfils that. argpartition: the
// positions of the elements. ValueError for a position that does not exist.
Variable partition(const Operand& x, const std::vector<int>& kth, std::optional<int> axis = -1);
Variable argpartition(const Operand& x, const std::vector<int>& kth, std::optional<int> axis = -1);
// The positions that sort by several keys of one shape, of which the last counts most. Equal elements keep their order.
// ValueError for no keys.
Variable lexsort(const Operands& keys, int axis = -1);

enum class SortOrder { Increasing, Decreasing };
// Equal elements keep their order. In decreasing order nan comes first.
Variable sort(const Operand& x, std::optional<int> axis, SortOrder order);
Variable argsort(const Operand& x, std::optional<int> axis, SortOrder order);

}  // namespace bitale
