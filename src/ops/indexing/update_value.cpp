#include "ops/indexing/update_value.hpp"

#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale {

bool can_store_dtype(DType from, DType to) { return kind(from) <= kind(to) || (is_integer(from) && is_integer(to)); }

void check_update_value(const Variable& x, const Variable& y, const Dims& region, std::string_view who) {
  if (y.ndim() > int(region.size()))
    throw TypeError(cat(who, ": the selected part of ", x.str(), " has ", region.size(), " dimensions, the value ",
                        y.str(), " has ", y.ndim()));
  if (!can_store_dtype(y.dtype(), x.dtype()))
    throw TypeError(cat(who, ": a value of dtype ", dtype_name(y.dtype()), " can't be put into a tensor of dtype ",
                        dtype_name(x.dtype()), "; cast it explicitly"));
  const std::size_t offset = region.size() - std::size_t(y.ndim());
  for (int k = 0; k < y.ndim(); ++k) {
    const std::int64_t have = y.static_shape()[std::size_t(k)], want = region[std::size_t(k) + offset];
    if (have != 1 && have != unknown_length && want != unknown_length && have != want)
      throw ShapeError(cat(who, ": the selected part has length ", want, " in dimension ", std::size_t(k) + offset,
                           ", the value ", y.str(), " has ", have));
  }
}

Array fitted_value(const Array& x, const Array& y, const Variable& y_variable, const Dims& region,
                   std::string_view who) {
  const std::size_t offset = region.size() - std::size_t(y.ndim());
  for (int k = 0; k < y.ndim(); ++k) {
    const std::int64_t want = region[std::size_t(k) + offset];
    if (!y_variable.tensor().broadcasts(k) && y.shape(k) != want)
      throw ShapeError(cat(who, ": the selected part has length ", want, " in dimension ", std::size_t(k) + offset,
                           ", the value has ", y.shape(k)));
  }
  return y.astype(x.dtype()).broadcast_to(region);
}

ElementRule fitted_rule(Lowering& to, const Variable& x, const Variable& y, int input, std::vector<Expr> region,
                        std::string_view who) {
  const std::size_t offset = region.size() - std::size_t(y.ndim());
  std::vector<bool> repeats;
  for (int k = 0; k < y.ndim(); ++k) {
    repeats.push_back(y.tensor().broadcasts(k));
    if (repeats.back()) continue;
    const Expr have = to.shape_in(input)[std::size_t(k)], want = region[std::size_t(k) + offset];
    if (!(have == want))
      to.require(equal(have, want),
                 cat(who, ": the value's length in dimension ", k, " is not that of the selected part"));
  }
  return [&to, input, repeats, offset, dtype = x.dtype()](Index at) {
    std::vector<Expr> source;
    for (std::size_t k = 0; k < repeats.size(); ++k)
      source.push_back(repeats[k] ? to.pool().integer(0) : at[k + offset]);
    return program::cast(to.in(input, source), dtype);
  };
}

TensorValue fitted_tensor(TensorLowering& to, const Variable& x, const Variable& y, int input, const Dims& region,
                          std::string_view who) {
  const TensorValue value = to.builder().convert(to.in(input), x.dtype());
  const int offset = int(region.size()) - y.ndim();
  std::vector<int> axes;
  for (int k = 0; k < y.ndim(); ++k) {
    axes.push_back(k + offset);
    const std::int64_t have = value.lengths[std::size_t(k)], want = region[std::size_t(k + offset)];
    if (!y.tensor().broadcasts(k) && have != want)
      throw ShapeError(
          cat(who, ": the value's length in dimension ", k, " is ", have, ", that of the selected part ", want));
  }
  return to.builder().broadcast(value, region, axes);
}

Variable gradient_of_value(const Variable& y, const Variable& region_gradient) {
  if (is_discrete(y.dtype())) return zeros_like(y, region_gradient.dtype());
  Variable g = region_gradient;
  const int offset = g.ndim() - y.ndim();
  std::vector<int> repeated, kept;
  for (int axis = 0; axis < g.ndim(); ++axis) {
    const bool broadcasts = axis < offset || y.tensor().broadcasts(axis - offset);
    if (broadcasts && g.static_shape()[std::size_t(axis)] != 1) repeated.push_back(axis);
    if (axis >= offset) kept.push_back(axis);
  }
  if (!repeated.empty()) g = sum(g, repeated, KeepDims::Yes);
  return cast(dimshuffle(g, kept), y.dtype());
}

Variables with_indices(const Apply& node, Variables front) {
  front.insert(front.end(), node.inputs().begin() + 2, node.inputs().end());
  return front;
}

Variables pushforward_of_update(const Op& op, bool set, const Apply& node, std::span<const Variable> tangents) {
  const bool from_x = !tangents[0].is_disconnected(), from_y = !tangents[1].is_disconnected();
  if (!from_x && !from_y) return {disconnected()};
  if (!from_y && !set) return {tangents[0]};
  const Variable x = from_x ? tangents[0] : zeros_like(node.input(0));
  const Variable y = from_y ? tangents[1] : constant(Array::zeros(x.dtype(), Dims{}));
  return {op(with_indices(node, {x, y}))};
}

Variable padded_to(const Variable& y, int ndim) {
  std::vector<int> order(std::size_t(std::max(ndim - y.ndim(), 0)), new_axis);
  for (int axis = 0; axis < y.ndim(); ++axis) order.push_back(axis);
  return dimshuffle(y, order);
}

}  // namespace bitale
