// The functions of sorting.hpp, as formulas over sort and argsort, which are stable.
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/arrange.hpp"
#include "bitale/ops/search.hpp"
#include "bitale/ops/sorting.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale {

namespace {

void require_in_range(const Operand& x, const std::vector<int>& kth, std::optional<int> axis, const char* who) {
  const int along = axis ? normal_axis(*axis, x.ndim(), who) : 0;
  const std::int64_t length =
      axis ? x.variable.static_shape()[std::size_t(along)] : static_length(lengths::product(lengths_of(x.variable)));
  if (length == unknown_length) return;
  for (const int position : kth)
    if (position >= length || position < -length)
      throw ValueError(cat(who, ": kth: ", position, " is out of bounds for ", length, " elements"));
}

}  // namespace

Variable partition(const Operand& x, const std::vector<int>& kth, std::optional<int> axis) {
  const LocationScope here(x.where);
  require_in_range(x, kth, axis, "partition");
  return sort(x, axis);
}

Variable argpartition(const Operand& x, const std::vector<int>& kth, std::optional<int> axis) {
  const LocationScope here(x.where);
  require_in_range(x, kth, axis, "argpartition");
  return argsort(x, axis);
}

Variable lexsort(const Operands& keys, int axis) {
  const LocationScope here(keys.where);
  if (keys.variables.empty()) throw ValueError("lexsort: expected at least one key");
  Variable order;
  for (const Variable& key : keys.variables) {
    if (key.ndim() != keys.variables[0].ndim())
      throw ValueError(cat("lexsort: expected keys of one shape, got ", keys.variables[0].str(), " and ", key.str()));
    order = order.defined() ? take_along_axis(order, argsort(take_along_axis(key, order, axis), axis), axis)
                            : argsort(key, axis);
  }
  return order;
}

Variable argsort(const Operand& x, std::optional<int> axis, SortOrder order) {
  const LocationScope here(x.where);
  if (order == SortOrder::Increasing) return argsort(x, axis);
  const Variable values = axis ? x.variable : flatten(x);
  const int along = normal_axis(axis.value_or(0), values.ndim(), "argsort");
  // Of elements in reverse order, equal ones are in reverse order as well.
  const Variable last = lengths::sub(length_of(values, along), int64_constant(1));
  return sub(last, flip(argsort(flip(values, {along}), along), {along}));
}

Variable sort(const Operand& x, std::optional<int> axis, SortOrder order) {
  const LocationScope here(x.where);
  const Variable sorted = sort(x, axis);
  return order == SortOrder::Increasing ? sorted : flip(sorted, {axis.value_or(0)});
}

}  // namespace bitale
