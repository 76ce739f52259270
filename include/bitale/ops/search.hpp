// Positions and order statistics: binary search, distinct values, counts, medians. Names and arguments are NumPy's and
// PyTensor's.
#pragma once

#include <optional>
#include <string>

#include "bitale/ops/ops.hpp"

namespace bitale {

enum class SearchSide { Left, Right };
// Where in the increasing vector x the elements of v would have to be inserted to keep it so: before equal ones (Left)
// or behind them. nan comes last. sorter: positions that sort x, when it is not sorted. int64, of v's shape.
Variable searchsorted(const Operand& x, const Operand& v, SearchSide side = SearchSide::Left,
                      const std::optional<Operand>& sorter = {});

struct UniqueValues {
  Variable values;   // increasing; nan once
  Variable index;    // where each was found first
  Variable inverse;  // which of them each element of x is, in x's shape
  Variable counts;   // how often each was found
};
// The distinct elements of x.
UniqueValues unique(const Operand& x);
// How often each number from 0 on is in a vector of integers, or the sum of the weights where it is; at least
// min_length long. ValueError when a call finds a negative one.
Variable bincount(const Operand& x, const std::optional<Operand>& weights = {}, const Operand& min_length = 0);
// The number of the bin, between increasing (or decreasing) limits, that each element lies in, as numpy.digitize.
Variable digitize(const Operand& x, const Operand& bins, bool right = false);

// x[indices] along one axis, the indices of the other dimensions being their places: what argsort and argmax answer,
// taken. x and indices broadcast but for that axis.
Variable take_along_axis(const Operand& x, const Operand& indices, int axis = 0);
// Of as many choices as there are, each element from that which `which` says. All broadcast.
Variable choose(const Operand& which, const Operands& choices, TakeMode mode = TakeMode::Raise);
// The `sizes`-shaped array's flat positions of index tuples, in row-major order; out of range as mode says.
Variable ravel_multi_index(const Operands& multi_index, const Operands& dims, TakeMode mode = TakeMode::Raise);
// And back: a tensor for each dimension. ValueError when a call finds a position out of range.
Variables unravel_index(const Operand& indices, const Operands& dims);
// Of each row, the permutation that undoes it.
Variable inverse_permutation(const Operand& permutation);
// The elements of each row of x in the order of a permutation, or of each row of permutations; inverse: undone.
Variable permute_row_elements(const Operand& x, const Operand& permutation, bool inverse = false);

// The k largest elements along an axis (nullopt: of the flattened x) in increasing order, the -k smallest if k is
// negative, and where they are. ValueError for 0; a call in which the axis has fewer elements fails.
struct ExtremeElements {
  Variable values, positions;
};
ExtremeElements topk_and_argtopk(const Operand& x, int k, std::optional<int> axis = -1);
Variable topk(const Operand& x, int k, std::optional<int> axis = -1);
Variable argtopk(const Operand& x, int k, std::optional<int> axis = -1);

// The middle element, or the mean of the middle two; nan where there is one.
Variable median(const Operand& x, const Axes& axis = all_axes, bool keepdims = false);
// Between which so large a part of the elements lies: by linear interpolation, as numpy.quantile. q: a scalar or a
// vector, which becomes the first dimension. ValueError for a constant outside [0, 1].
Variable quantile(const Operand& x, const Operand& q, const Axes& axis = all_axes, bool keepdims = false);
Variable percentile(const Operand& x, const Operand& q, const Axes& axis = all_axes, bool keepdims = false);

}  // namespace bitale
