// Tensors joined into one and split again: stacks of matrices, nested lists, packs of tensors of different ranks.
#include "bitale/ops/stacking.hpp"

#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/arrange.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale {

namespace {

const Operands& as_matrices(const Operands& tensors, const char* who) {
  if (tensors.variables.empty()) throw ValueError(cat(who, ": expected at least one matrix"));
  for (const Variable& x : tensors.variables)
    if (x.ndim() != 2)
      throw ValueError(cat(who, ": expected matrices, got ", x.str(), " with ", x.ndim(), " dimensions"));
  return tensors;
}

// The numbers of leading and trailing dimensions that pack keeps.
std::pair<int, int> kept_dimensions(const std::vector<int>& axes) {
  std::vector<int> front, behind;
  for (const int axis : axes) (axis >= 0 ? front : behind).push_back(axis);
  std::sort(front.begin(), front.end());
  std::sort(behind.begin(), behind.end());
  bool fits = true;
  for (std::size_t i = 0; i < front.size(); ++i) fits = fits && front[i] == int(i);
  for (std::size_t i = 0; i < behind.size(); ++i) fits = fits && behind[i] == int(i) - int(behind.size());
  if (!fits) throw ValueError("pack: expected axes from 0 on, or up to -1, or both");
  return {int(front.size()), int(behind.size())};
}

// A tensor of rank 3 whose rows are those of x, as numpy.atleast_3d.
Variable with_depth(const Variable& x) {
  if (x.ndim() >= 3) return x;
  return expand_dims(atleast_2d(x), 2);
}

template <class Raise>
Variables raised(const Operands& tensors, const char* who, const Raise& raise) {
  if (tensors.variables.empty()) throw ValueError(cat(who, ": expected at least one tensor"));
  Variables out;
  for (const Variable& x : tensors.variables) out.push_back(raise(x));
  return out;
}

Variable squeezed(const Variable& x, int axis) {
  const bool known = x.static_shape()[std::size_t(axis)] == 1;
  return squeeze(known ? x : specify_broadcastable(x, {axis}), std::vector<int>{axis});
}

}  // namespace

Variable horizontal_stack(const Operands& matrices) {
  const LocationScope here(matrices.where);
  return concatenate(as_matrices(matrices, "horizontal_stack"), 1);
}

Variable vertical_stack(const Operands& matrices) {
  const LocationScope here(matrices.where);
  return concatenate(as_matrices(matrices, "vertical_stack"), 0);
}

Variable vstack(const Operands& tensors) {
  const LocationScope here(tensors.where);
  return concatenate(raised(tensors, "vstack", [](const Variable& x) { return atleast_2d(x); }), 0);
}

Variable hstack(const Operands& tensors) {
  const LocationScope here(tensors.where);
  const Variables wide = raised(tensors, "hstack", [](const Variable& x) { return atleast_1d(x); });
  return concatenate(wide, wide[0].ndim() == 1 ? 0 : 1);
}

Variable dstack(const Operands& tensors) {
  const LocationScope here(tensors.where);
  return concatenate(raised(tensors, "dstack", with_depth), 2);
}

Variable column_stack(const Operands& tensors) {
  const LocationScope here(tensors.where);
  const auto as_columns = [](const Variable& x) { return x.ndim() < 2 ? transpose(atleast_2d(x)) : x; };
  return concatenate(raised(tensors, "column_stack", as_columns), 1);
}

Variables unstack(const Operand& x, int axis) {
  const LocationScope here(x.where);
  const int along = normal_axis(axis, x.ndim(), "unstack");
  const std::int64_t length = x.variable.static_shape()[std::size_t(along)];
  if (length == unknown_length)
    throw ValueError(cat("unstack: the length of ", x.variable.str(), " along axis ", along,
                         " is not known; specify_shape states it"));
  Variables out;
  for (std::int64_t i = 0; i < length; ++i) {
    std::vector<IndexItem> items(std::size_t(along), IndexItem(Slice{}));
    items.push_back(IndexItem(Operand(i)));
    out.push_back(subtensor(x, items));
  }
  return out;
}

Variable stacklists(const NestedOperands& nested) {
  if (nested.operand) return nested.operand->variable;
  Variables parts;
  for (const NestedOperands& element : nested.elements) parts.push_back(stacklists(element));
  return stack(Operands(parts));
}

Variable concat_with_broadcast(const Operands& tensors, int axis) {
  const LocationScope here(tensors.where);
  const Variables& given = tensors.variables;
  if (given.empty()) throw ValueError("concat_with_broadcast: expected at least one tensor");
  const int ndim = given[0].ndim(), along = normal_axis(axis, ndim, "concat_with_broadcast");
  Variables edges;
  for (const Variable& x : given) {
    if (x.ndim() != ndim) throw TypeError("concat_with_broadcast: expected tensors with equally many dimensions");
    edges.push_back(subtensor(x, slice_at_axis(Slice{Operand(0), Operand(1), {}}, along)));
  }
  if (edges.size() > 1) edges = broadcast_arrays(Operands(edges));
  const Shape others = lengths_of(edges[0]);
  Variables wide;
  for (const Variable& x : given) {
    Variables lengths(others.begin(), others.end());
    lengths[std::size_t(along)] = length_of(x, along);
    wide.push_back(alloc(x, Operands(lengths)));
  }
  return join(along, Operands(wide));
}

Variables broadcast_shape(const Operands& tensors) {
  if (tensors.variables.empty()) return {};
  const LocationScope here(tensors.where);
  const Shape lengths = lengths_of(broadcast_arrays(tensors)[0]);
  return Variables(lengths.begin(), lengths.end());
}

Variable specify_broadcastable(const Operand& x, const std::vector<int>& axes) {
  if (axes.empty()) return x.variable;
  const LocationScope here(x.where);
  std::vector<std::optional<Operand>> lengths(std::size_t(x.ndim()));
  for (const int axis : axes) lengths[std::size_t(normal_axis(axis, x.ndim(), "specify_broadcastable"))] = Operand(1);
  return specify_shape(x, lengths);
}

std::vector<IndexItem> slice_at_axis(const Slice& slice, int axis) {
  std::vector<IndexItem> items;
  if (axis >= 0) {
    items.assign(std::size_t(axis), IndexItem(Slice{}));
    items.push_back(slice);
    items.push_back(Ellipsis{});
  } else {
    items.push_back(Ellipsis{});
    items.push_back(slice);
    items.insert(items.end(), std::size_t(-1 - axis), IndexItem(Slice{}));
  }
  return items;
}

PackedTensors pack(const Operands& tensors, const std::vector<int>& keep_axes) {
  const LocationScope here(tensors.where);
  const auto [front, behind] = kept_dimensions(keep_axes);
  if (tensors.variables.empty()) throw ValueError("pack: expected at least one tensor");
  Variables flat, shapes;
  for (const Variable& x : tensors.variables) {
    if (x.ndim() < front + behind)
      throw ValueError(
          cat("pack: ", x.str(), " has ", x.ndim(), " dimensions, of which ", front + behind, " should be kept"));
    const Shape all = lengths_of(x);
    const Variables lengths(all.begin(), all.end());
    const Variables middle(lengths.begin() + front, lengths.end() - behind);
    shapes.push_back(middle.empty() ? constant(Array::empty(DType::Int64, {0})) : make_vector(Operands(middle)));
    Variables shape(lengths.begin(), lengths.begin() + front);
    shape.push_back(lengths::product(middle));
    shape.insert(shape.end(), lengths.end() - behind, lengths.end());
    flat.push_back(reshape(x, Operands(shape)));
  }
  return {join(front, Operands(flat)), shapes};
}

Variables unpack(const Operand& packed, const Operands& shapes, const std::vector<int>& keep_axes) {
  const LocationScope here(packed.where);
  const int front = kept_dimensions(keep_axes).first;
  std::vector<Variables> lengths;
  Variables sizes;
  for (const Variable& shape : shapes.variables) {
    lengths.push_back(elements_of(shape, "unpack"));
    sizes.push_back(lengths::product(lengths.back()));
  }
  Variables out;
  const Variables parts = split(packed, Operands(sizes), front);
  for (std::size_t i = 0; i < parts.size(); ++i)
    out.push_back(lengths[i].empty() ? squeezed(parts[i], front) : split_dims(parts[i], Operands(lengths[i]), front));
  return out;
}

}  // namespace bitale
