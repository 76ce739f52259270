// Rearrangements of the elements of tensors: reversed, shifted, repeated, padded, joined and split. Names and arguments
// are NumPy's and PyTensor's. All are expressions over indexing and reshaping, so they fuse and have derivatives.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <vector>

#include "bitale/ops/ops.hpp"

namespace bitale {

// x with the elements along these axes (all by default) in reverse order. AxisError for an axis that does not exist.
Variable flip(const Operand& x, const Axes& axis = all_axes);
// x rotated by k times 90 degrees in the plane of two axes, from the first towards the second.
Variable rot90(const Operand& x, int k = 1, std::pair<int, int> axes = {0, 1});
// x shifted along an axis; elements that leave one end re-enter at the other. nullopt: the flattened x is shifted, in
// x's shape.
Variable roll(const Operand& x, const Operand& shift, std::optional<int> axis = {});
// x repeated as often as given along each dimension; missing counts are 1 in front.
Variable tile(const Operand& x, const std::vector<Operand>& repetitions);
// Each element repeated consecutively. repeats: a scalar, or a vector with a count for each element along the axis.
Variable repeat(const Operand& x, const Operand& repeats, std::optional<int> axis = {});
// All with the shape that they have when broadcast together.
Variables broadcast_arrays(const Operands& tensors);

// Joins n_axes dimensions from `start_axis` on into one; by default all that follow. 0 inserts a dimension of length 1.
Variable join_dims(const Operand& x, int start_axis = 0, std::optional<int> n_axes = {});
// Splits a dimension into several of these lengths, one of which may be -1. ShapeError when their product is not its
// length.
Variable split_dims(const Operand& x, const Operands& shape, int axis = 0);
// Consecutive parts of these lengths along an axis. ValueError when a call finds that they don't add up to its length.
Variables split(const Operand& x, const Operands& sizes, int axis = 0);

// x with two dimensions exchanged, or with some moved to other axes and the others in their order. AxisError for axes
// that do not exist, ValueError for one that is given twice.
Variable swapaxes(const Operand& x, int axis1, int axis2);
Variable moveaxis(const Operand& x, const std::vector<int>& source, const std::vector<int>& destination);
inline Variable moveaxis(const Operand& x, int source, int destination) {
  return moveaxis(x, std::vector<int>{source}, std::vector<int>{destination});
}
// x with new dimensions of length 1 in front, behind, or at an axis; with as many as it takes to have n in all.
Variable shape_padleft(const Operand& x, int n_ones = 1);
Variable shape_padright(const Operand& x, int n_ones = 1);
Variable shape_padaxis(const Operand& x, int axis);
enum class NewAxes { Leading, Trailing };
Variable atleast_Nd(const Operand& x, int n = 1, NewAxes place = NewAxes::Leading);
inline Variable atleast_1d(const Operand& x) { return atleast_Nd(x, 1); }
inline Variable atleast_2d(const Operand& x) { return atleast_Nd(x, 2); }
inline Variable atleast_3d(const Operand& x) { return atleast_Nd(x, 3); }

// Matrices side by side, or one below the other. ValueError for other ranks.
Variable horizontal_stack(const Operands& matrices);
Variable vertical_stack(const Operands& matrices);
// Operands in lists, which may be nested.
struct NestedOperands {
  template <class T>
  requires std::convertible_to<const T&, Operand> NestedOperands(const T& value) : operand(Operand(value)) {}
  NestedOperands(std::initializer_list<NestedOperands> given_elements) : elements(given_elements) {}
  std::optional<Operand> operand;
  std::vector<NestedOperands> elements = {};
};
// One tensor with a dimension for each level of lists.
Variable stacklists(const NestedOperands& nested);
// concatenate, after the tensors' other dimensions have been broadcast together.
Variable concat_with_broadcast(const Operands& tensors, int axis = 0);
// The lengths that tensors have when broadcast together.
Variables broadcast_shape(const Operands& tensors);
// x, whose dimensions `axes` have length 1: checked when a function is called.
Variable specify_broadcastable(const Operand& x, const std::vector<int>& axes);
// The index that takes this slice of one dimension, and all of the others.
std::vector<IndexItem> slice_at_axis(const Slice& slice, int axis);

// Flattens all dimensions but the kept ones to one, and joins the tensors along it; also returns the shapes that unpack
// needs. keep_axes: leading axes (from 0 on), trailing axes (up to -1), or both. ValueError for others, and for tensors
// with fewer dimensions.
struct PackedTensors {
  Variable packed;
  Variables shapes;  // a vector each
};
PackedTensors pack(const Operands& tensors, const std::vector<int>& keep_axes = {});
// The tensors that pack has joined.
Variables unpack(const Operand& packed, const Operands& shapes, const std::vector<int>& keep_axes = {});

// Lengths to add before and after a dimension.
struct Padding {
  Operand before, after;
};
enum class PadMode { Constant, Edge, LinearRamp, Maximum, Minimum, Mean, Median, Wrap, Symmetric, Reflect };
// Further arguments of pad's modes: `values` for Constant and LinearRamp, `stat_length` for the statistics; each a
// pair for each dimension, or one pair for all, or empty (0, or all elements).
struct PadOptions {
  std::vector<Padding> values = {};
  std::vector<Padding> stat_length = {};
  // For Symmetric and Reflect: x mirrored at the points at its edges, as 2 * edge - x (reflect_type "odd").
  bool is_odd = false;
};
// x with elements added around it, `widths` a pair for each dimension, or one for all. The modes are those
// of numpy.pad. ValueError for is_odd with a mode that does not mirror; NotImplementedError for is_odd of bools.
Variable pad(const Operand& x, const std::vector<Padding>& widths, PadMode mode = PadMode::Constant,
             const PadOptions& options = {});

}  // namespace bitale
