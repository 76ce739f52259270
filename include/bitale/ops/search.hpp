// Positions and order statistics: binary search, distinct values, counts, medians. Names and arguments are NumPy's and
// PyTensor's.
#pragma once

#include <optional>
#include <string>

#include "bitale/ops/ops.hpp"

namespace bitale {

enum class SearchSide { Left, Right };
// The positions at which the elements of v would be inserted into the increasing vector x to keep it sorted: before
// equal elements (Left) or behind them. nan comes last. sorter: positions that sort x, when it is not sorted. int64, of
// v's shape.
Variable searchsorted(const Operand& x, const Operand& v, SearchSide side = SearchSide::Left,
                      const std::optional<Operand>& sorter = {});

struct UniqueValues {
  Variable values;   // increasing; nan once
  Variable index;    // the position of the first occurrence of each
  Variable inverse;  // for each element of x its position in `values`, in x's shape
  Variable counts;   // the number of occurrences of each
};
// The distinct elements of x.
UniqueValues unique(const Operand& x);
// How often each number from 0 on occurs in a vector of integers, or the sum of the weights where it occurs; at least
// min_length long. ValueError when a call finds a negative number.
Variable bincount(const Operand& x, const std::optional<Operand>& weights = {}, const Operand& min_length = 0);
// The number of the bin, between increasing (or decreasing) limits, that each element lies in, as numpy.digitize.
struct DigitizeOptions {
  bool right = false;  // whether a bin contains its right limit, else its left one
};
Variable digitize(const Operand& x, const Operand& bins, const DigitizeOptions& options = {});

// x[indices] along one axis, where the indices of the other dimensions are the element's own: takes the elements at the
// positions that argsort or argmax return. x and indices broadcast except along that axis.
Variable take_along_axis(const Operand& x, const Operand& indices, int axis = 0);
// Each element is taken from the choice that `which` selects for it. All broadcast.
Variable choose(const Operand& which, const Operands& choices, TakeMode mode = TakeMode::Raise);
// The flat positions of index tuples in an array of shape `dims`, in row-major order; mode handles positions out of
// range.
Variable ravel_multi_index(const Operands& multi_index, const Operands& dims, TakeMode mode = TakeMode::Raise);
// The inverse: a tensor for each dimension. ValueError when a call finds a position out of range.
Variables unravel_index(const Operand& indices, const Operands& dims);
// The inverse permutation of each row.
Variable inverse_permutation(const Operand& permutation);
// The elements of each row of x in the order of a permutation, or of each row of permutations.
struct PermutationOptions {
  bool inverse = false;  // the inverse of the permutation
};
Variable permute_row_elements(const Operand& x, const Operand& permutation, const PermutationOptions& options = {});

// The k largest elements along an axis (nullopt: of the flattened x) in increasing order, or the -k smallest if k is
// negative, and their positions. ValueError for 0; a call in which the axis has fewer elements fails.
struct ExtremeElements {
  Variable values, positions;
};
ExtremeElements topk_and_argtopk(const Operand& x, int k, std::optional<int> axis = -1);
Variable topk(const Operand& x, int k, std::optional<int> axis = -1);
Variable argtopk(const Operand& x, int k, std::optional<int> axis = -1);

// The middle element, or the mean of the middle two; nan where any element is nan.
Variable median(const Operand& x, const Axes& axis = all_axes, KeepDims keepdims = KeepDims::No);
// The value below which the fraction q of the elements lies, by linear interpolation, as numpy.quantile. q: a scalar or
// a vector, which becomes the first dimension. ValueError for a constant outside [0, 1].
Variable quantile(const Operand& x, const Operand& q, const Axes& axis = all_axes, KeepDims keepdims = KeepDims::No);
Variable percentile(const Operand& x, const Operand& q, const Axes& axis = all_axes, KeepDims keepdims = KeepDims::No);

}  // namespace bitale
