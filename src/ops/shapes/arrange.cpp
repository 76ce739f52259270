// flip, roll, tile, repeat and related functions, as expressions over slices, gathers and reshapes.
#include "bitale/ops/arrange.hpp"

#include <numeric>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/cumulative.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/search.hpp"
#include "graph/literal.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/reductions/reduce.hpp"

namespace bitale {

namespace {

// x[..., item, ...] at an axis.
Variable at_axis(const Variable& x, int axis, IndexItem item) {
  std::vector<IndexItem> items(std::size_t(axis), IndexItem(Slice{}));
  items.push_back(std::move(item));
  return subtensor(x, items);
}

Variable as_count(const Operand& value, const char* who) { return as_length(value.variable, who); }

}  // namespace

Variable flip(const Operand& x, const Axes& axis) {
  const LocationScope here(x.where);
  std::vector<IndexItem> items(std::size_t(x.ndim()), IndexItem(Slice{}));
  for (int a : axes_or_all("flip", axis, x.ndim())) items[std::size_t(a)] = Slice{{}, {}, -1};
  return subtensor(x, items);
}

Variable rot90(const Operand& x, int k, std::pair<int, int> axes) {
  const LocationScope here(x.where);
  const int first = normal_axis(axes.first, x.ndim(), "rot90"), second = normal_axis(axes.second, x.ndim(), "rot90");
  if (first == second) throw ValueError(cat("rot90: expected two different axes, got ", first, " twice"));
  std::vector<int> order(std::size_t(x.ndim()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[std::size_t(first)], order[std::size_t(second)]);
  const std::vector<int> a{first}, b{second}, both{first, second};
  switch ((k % 4 + 4) % 4) {
    case 0: return x.variable;
    case 1: return dimshuffle(flip(x, b), order);
    case 2: return flip(x, both);
    default: return flip(dimshuffle(x, order), b);
  }
}

Variable roll(const Operand& x, const Operand& shift, std::optional<int> axis) {
  const LocationScope here(x.where);
  if (!axis) return reshape(roll(flatten(x), shift, 0), Operands(lengths_of(x.variable)));
  const int along = normal_axis(*axis, x.ndim(), "roll");
  const Variable n = length_of(x.variable, along), by = as_count(shift, "roll");
  const Variable from = mod(sub(arange(n), by), lengths::max(n, int64_constant(1)));
  return with_static_shape_of(x.variable, at_axis(x.variable, along, from));
}

Variable tile(const Operand& x, const std::vector<Operand>& repetitions) {
  const LocationScope here(x.where);
  const int ndim = std::max(x.ndim(), int(repetitions.size())), missing = ndim - int(repetitions.size());
  Variable out = with_literal_widths({&x.variable, 1})[0];
  while (out.ndim() < ndim) out = expand_dims(out, 0);
  // Each dimension [n] becomes [1, n], which broadcasts to [repetitions, n], and [repetitions * n].
  std::vector<int> order;
  Variables wide, lengths;
  for (int axis = 0; axis < ndim; ++axis) {
    const Variable n = length_of(out, axis);
    const Variable times =
        axis < missing ? int64_constant(1) : as_count(repetitions[std::size_t(axis - missing)], "tile");
    order.insert(order.end(), {new_axis, axis});
    wide.insert(wide.end(), {times, n});
    lengths.push_back(lengths::mul(times, n));
  }
  return reshape(alloc(dimshuffle(out, order), wide), lengths);
}

Variable repeat(const Operand& x, const Operand& repeats, std::optional<int> axis) {
  const LocationScope here(x.where);
  if (!axis) return repeat(flatten(x), repeats, 0);
  const int along = normal_axis(*axis, x.ndim(), "repeat");
  if (!is_discrete(repeats.dtype()) || repeats.dtype() == DType::Bool || repeats.ndim() > 1)
    throw TypeError(cat("repeat: expected a scalar or a vector of integers as repeats, got ", repeats.variable.str(),
                        " of type ", repeats.variable.type()->str()));
  if (repeats.ndim() == 1 && !repeats.variable.tensor().broadcasts(0)) {
    const Variable counts = check_and_raise(cast(repeats, DType::Int64), {all(ge(repeats, 0))}, "ValueError",
                                            "repeat: the repeats must not be negative");
    const Variable ends = cumsum(counts, 0);
    const Variable from = searchsorted(ends, arange(sum(counts)), SearchSide::Right);
    // The lengths of x and the repeats must be equal, which a gather would not check.
    const Variable known = specify_shape(x, [&] {
      std::vector<std::optional<Operand>> lengths(std::size_t(x.ndim()));
      lengths[std::size_t(along)] = Operand(length_of(repeats.variable, 0));
      return lengths;
    }());
    return at_axis(known, along, from);
  }
  const Variable times = as_count(repeats.ndim() == 1 ? squeeze(repeats) : repeats.variable, "repeat");
  std::vector<int> order(std::size_t(x.ndim()));
  std::iota(order.begin(), order.end(), 0);
  order.insert(order.begin() + along + 1, new_axis);
  Variables wide = lengths_of(x.variable), lengths = wide;
  wide.insert(wide.begin() + along + 1, times);
  lengths[std::size_t(along)] = lengths::mul(lengths[std::size_t(along)], times);
  return reshape(alloc(dimshuffle(x, order), wide), lengths);
}

// The length of each dimension is that of the first tensor that has one: alloc requires the same of the others in a
// call.
Variables broadcast_arrays(const Operands& tensors) {
  const LocationScope here(tensors.where);
  Dims known;
  for (const Variable& tensor : tensors.variables) known = broadcast_static_shapes(known, tensor.static_shape());
  const int ndim = int(known.size());
  Variables lengths(known.size(), int64_constant(1)), out;
  std::vector<bool> is_known(lengths.size());
  for (const Variable& tensor : tensors.variables)
    for (int axis = 0; axis < tensor.ndim(); ++axis) {
      const auto at = std::size_t(ndim - tensor.ndim() + axis);
      if (is_known[at] || tensor.tensor().broadcasts(axis)) continue;
      lengths[at] = length_of(tensor, axis);
      is_known[at] = true;
    }
  for (const Variable& tensor : tensors.variables) out.push_back(alloc(tensor, Operands(lengths)));
  return out;
}

Variable join_dims(const Operand& x, int start_axis, std::optional<int> n_axes) {
  const LocationScope here(x.where);
  const int ndim = x.ndim(), start = start_axis < 0 ? start_axis + std::max(1, ndim) : start_axis;
  if (start < 0 || start > ndim)
    throw AxisError(
        cat("join_dims: start_axis ", start_axis, " is outside the ", ndim, " dimensions of ", x.variable.str()));
  const int count = n_axes.value_or(ndim - start);
  if (count < 0 || start + count > ndim)
    throw ValueError(
        cat("join_dims: ", count, " dimensions from ", start, " on, but ", x.variable.str(), " has ", ndim));
  if (count == 1) return x.variable;
  Variables lengths = lengths_of(x.variable);
  const auto first = lengths.begin() + start, last = first + count;
  const Variable joined = lengths::product(std::span<const Variable>(first, last));
  lengths.erase(first, last);
  lengths.insert(lengths.begin() + start, joined);
  return reshape(x, lengths);
}

Variable split_dims(const Operand& x, const Operands& shape, int axis) {
  const LocationScope here(x.where);
  const int along = normal_axis(axis, x.ndim(), "split_dims");
  Variables lengths = lengths_of(x.variable);
  Variables parts;
  for (const Variable& length : shape.variables) parts.push_back(as_length(length, "split_dims"));
  // A length that is known to be -1 is inferred by the reshape from the others, even if those are not known.
  int inferred = -1;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (known_integer(parts[i]) == -1) {
      if (inferred >= 0) throw ValueError("split_dims: only one length may be -1");
      inferred = int(i);
    }
  lengths.erase(lengths.begin() + along);
  lengths.insert(lengths.begin() + along, parts.begin(), parts.end());
  return reshape(x, lengths);
}

Variables split(const Operand& x, const Operands& sizes, int axis) {
  const LocationScope here(x.where);
  const int along = normal_axis(axis, x.ndim(), "split");
  Variable end = int64_constant(0), total = end;
  std::vector<Operand> conditions;
  for (const Variable& given : sizes.variables) {
    const Variable size = as_length(given, "split");
    if (const auto known = known_integer(size); known && *known < 0)
      throw ValueError(cat("split: expected sizes of at least 0, got ", *known));
    if (!is_never_negative(size)) conditions.push_back(ge(size, int64_constant(0)));
    total = lengths::add(total, size);
  }
  if (!conditions.empty())
    total = check_and_raise(total, conditions, "ValueError", "split: the sizes must not be negative");
  // specify_shape checks the length: parts that leave elements over, or reach beyond the end, are an error.
  std::vector<std::optional<Operand>> lengths(std::size_t(x.ndim()));
  lengths[std::size_t(along)] = Operand(total);
  const Variable checked = specify_shape(x, lengths);
  Variables out;
  for (const Variable& size : sizes.variables) {
    const Variable start = end;
    end = lengths::add(end, as_length(size, "split"));
    out.push_back(at_axis(checked, along, Slice{Operand(start), Operand(end), {}}));
  }
  return out;
}

}  // namespace bitale
