// The elements of tensors in other places: reversed, shifted, repeated, padded, joined and split. Names and arguments
// are NumPy's and PyTensor's. All are expressions over indexing and reshaping, so they fuse and have derivatives.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bitale/ops/ops.hpp"

namespace bitale {

// With the elements along these axes (all by default) in reverse order. AxisError for an axis that is not there.
Variable flip(const Operand& x, const Axes& axis = all_axes);
// Turned by k times 90 degrees in the plane of two axes, from the first towards the second.
Variable rot90(const Operand& x, int k = 1, std::pair<int, int> axes = {0, 1});
// Shifted along an axis, what leaves one end coming in at the other; nullopt: of the flattened x, in x's shape.
Variable roll(const Operand& x, const Operand& shift, std::optional<int> axis = {});
// x repeated so many times along each dimension; missing ones are 1 in front.
Variable tile(const Operand& x, const std::vector<Operand>& repetitions);
// Each element so many times in a row. repeats: a scalar, or a vector with a number for each element along the axis.
Variable repeat(const Operand& x, const Operand& repeats, std::optional<int> axis = {});
// All with the shape that they have when broadcast together.
Variables broadcast_arrays(const Operands& tensors);

// n_axes dimensions from `start` on made one; all that follow by default, and none inserts a dimension of length 1.
Variable join_dims(const Operand& x, int start_axis = 0, std::optional<int> n_axes = {});
// A dimension made several of these lengths, one of which may be -1. ShapeError when they don't multiply to its length.
Variable split_dims(const Operand& x, const Operands& shape, int axis = 0);
// Consecutive parts of these lengths along an axis. ValueError when a call finds that they don't add up to its length.
Variables split(const Operand& x, const Operands& sizes, int axis = 0);

// Lengths to add before and after a dimension.
struct Padding {
  Operand before, after;
};
// What a mode of pad takes besides: of "constant", "linear_ramp", and the statistics' modes; a pair for each dimension,
// or one for all, or none for 0 and for all elements.
struct PadOptions {
  std::vector<Padding> values = {};
  std::vector<Padding> stat_length = {};
};
// x with elements added around it, `widths` a pair for each dimension, or one for all. mode: "constant", "edge",
// "linear_ramp", "maximum", "minimum", "mean", "median", "wrap", "symmetric" or "reflect", as in numpy.pad. ValueError
// for another one.
Variable pad(const Operand& x, const std::vector<Padding>& widths, const std::string& mode = "constant",
             const PadOptions& options = {});

}  // namespace bitale
