// Functions that exchange, move and add dimensions.
#include <algorithm>
#include <numeric>
#include <set>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/arrange.hpp"
#include "graph/literal.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale {

namespace {

std::vector<int> all_in_order(int ndim) {
  std::vector<int> order(std::size_t(ndim), 0);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<int> normal_axes(const std::vector<int>& axes, int ndim) {
  std::vector<int> out;
  for (const int axis : axes) out.push_back(normal_axis(axis, ndim, "moveaxis"));
  if (std::set<int>(out.begin(), out.end()).size() < out.size()) throw ValueError("moveaxis: an axis is given twice");
  return out;
}

}  // namespace

Variable swapaxes(const Operand& x, int axis1, int axis2) {
  const LocationScope here(x.where);
  std::vector<int> order = all_in_order(x.ndim());
  std::swap(order[std::size_t(normal_axis(axis1, x.ndim(), "swapaxes"))],
            order[std::size_t(normal_axis(axis2, x.ndim(), "swapaxes"))]);
  return dimshuffle(x, order);
}

Variable moveaxis(const Operand& x, const std::vector<int>& source, const std::vector<int>& destination) {
  const LocationScope here(x.where);
  if (source.size() != destination.size())
    throw ValueError(
        cat("moveaxis: source and destination must be equally many, got ", source.size(), " and ", destination.size()));
  const std::vector<int> from = normal_axes(source, x.ndim()), to = normal_axes(destination, x.ndim());
  std::vector<int> order;
  for (int axis = 0; axis < x.ndim(); ++axis)
    if (std::find(from.begin(), from.end(), axis) == from.end()) order.push_back(axis);
  std::vector<std::pair<int, int>> moves;
  for (std::size_t i = 0; i < from.size(); ++i) moves.emplace_back(to[i], from[i]);
  std::sort(moves.begin(), moves.end());
  for (const auto& [position, axis] : moves) order.insert(order.begin() + position, axis);
  return dimshuffle(x, order);
}

Variable shape_padleft(const Operand& x, int n_ones) {
  const LocationScope here(x.where);
  std::vector<int> order = all_in_order(x.ndim());
  order.insert(order.begin(), std::size_t(std::max(n_ones, 0)), new_axis);
  return dimshuffle(with_literal_widths({&x.variable, 1})[0], order);
}

Variable shape_padright(const Operand& x, int n_ones) {
  const LocationScope here(x.where);
  std::vector<int> order = all_in_order(x.ndim());
  order.insert(order.end(), std::size_t(std::max(n_ones, 0)), new_axis);
  return dimshuffle(with_literal_widths({&x.variable, 1})[0], order);
}

Variable shape_padaxis(const Operand& x, int axis) { return expand_dims(x, axis); }

Variable atleast_Nd(const Operand& x, int n, NewAxes place) {
  if (x.ndim() >= n) return x.variable;
  return place == NewAxes::Leading ? shape_padleft(x, n - x.ndim()) : shape_padright(x, n - x.ndim());
}

}  // namespace bitale
