// Basic indexing: redundant bounds are removed, known negative positions become positive, nested indices are composed,
// and gathers of evenly spaced positions become slices.
#include "ops/indexing/subtensor.hpp"

#include <algorithm>

#include "ops/analysis/lengths.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/indexing/advanced_inc_subtensor.hpp"
#include "ops/indexing/advanced_subtensor.hpp"
#include "ops/shapes/arange.hpp"
#include "ops/shapes/dimshuffle.hpp"
#include "ops/shapes/shape.hpp"
#include "rules/subtensor_bounds.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

std::int64_t static_of(const Variable& x, std::size_t axis) { return x.static_shape()[axis]; }

bool is_length(const Variable& scalar, const Variable& x, std::size_t axis) {
  const auto* op = op_as<ShapeI>(scalar);
  return op && std::size_t(op->i) == axis && scalar.owner().input(0).same_as(x);
}

// ---- one index ------------------------------------------------------------------------------------------------------

// Drops bounds that equal the defaults: x[0:len(x):1].
bool drop_useless_bounds(DimBounds& dim, const Variable& x, std::size_t axis) {
  if (dim.integer) return false;
  bool changed = false;
  auto drop = [&](Variable& bound) { bound = Variable(), changed = true; };
  const std::int64_t length = static_of(x, axis);
  if (dim.step.defined() && known_integer(dim.step) == 1) drop(dim.step);
  if (dim.step.defined()) return changed;  // other steps may be negative
  if (dim.start.defined()) {
    const auto start = known_integer(dim.start);
    if (start == 0 || (start && length != unknown_length && *start <= -length)) drop(dim.start);
  }
  if (dim.stop.defined()) {
    const auto stop = known_integer(dim.stop);
    if ((stop && length != unknown_length && *stop >= length) || is_length(dim.stop, x, axis)) drop(dim.stop);
  }
  return changed;
}

std::optional<Variables> useless_slices(FunctionGraph&, const Apply& node) {
  const Variable& x = node.input(0);
  Bounds bounds = bounds_of(node);
  bool changed = all_full(bounds);
  for (std::size_t axis = 0; axis < bounds.size(); ++axis) changed |= drop_useless_bounds(bounds[axis], x, axis);
  if (!changed) return std::nullopt;
  return one(fit(part_of(x, bounds), node.output()));
}

bool is_known_negative(const Variable& number) {
  const auto known = number.defined() ? known_integer(number) : std::nullopt;
  return known && *known < 0;
}

// x[-k] is x[n - k] if n is known.
bool count_from_front(DimBounds& dim, std::int64_t length) {
  if (is_known_negative(dim.index)) {
    const auto position = known_position(dim.index, length);
    if (position) dim.index = int64_constant(*position);
    return position.has_value();
  }
  if (dim.step.defined() || (!is_known_negative(dim.start) && !is_known_negative(dim.stop))) return false;
  const auto range = known_range(dim, length);
  if (range) dim = slice_of(*range);
  return range.has_value();
}

std::optional<Variables> positive_positions(FunctionGraph&, const Apply& node) {
  const Variable& x = node.input(0);
  Bounds bounds = bounds_of(node);
  bool changed = false;
  for (std::size_t axis = 0; axis < bounds.size(); ++axis)
    changed |= count_from_front(bounds[axis], static_of(x, axis));
  if (!changed) return std::nullopt;
  return one(fit(part_of(x, bounds), node.output()));
}

// Indexing the only element of a dimension of length 1 drops the dimension.
std::optional<Variables> only_element(FunctionGraph&, const Apply& node) {
  const Variable& x = node.input(0);
  Bounds bounds = bounds_of(node);
  std::vector<int> order;
  int next = 0;
  bool changed = false;
  for (std::size_t axis = 0; axis < bounds.size(); ++axis) {
    if (!bounds[axis].integer) {
      order.push_back(next++);
    } else if (is_one(x, int(axis)) && known_position(bounds[axis].index, 1)) {
      bounds[axis] = {};
      ++next;
      changed = true;
    }
  }
  if (!changed) return std::nullopt;
  return one(fit(dimshuffle(part_of(x, bounds), order), node.output()));
}

// In the uncanonicalize phase, a slice of one element whose dimension is dropped becomes an integer index.
std::optional<Variables> dropped_slice(FunctionGraph&, const Apply& node) {
  const Variable& part = node.input(0);
  if (!op_as<Subtensor>(part)) return std::nullopt;
  const std::vector<int> dropped = op_as<DimShuffle>(node.output())->dropped();
  const Apply below = part.owner();
  Bounds bounds = bounds_of(below);
  std::vector<int> position(std::size_t(part.ndim()), 0);  // of each dimension of the part, after the change
  int axis = 0, kept = 0;
  for (std::size_t k = 0; k < bounds.size(); ++k) {
    if (bounds[k].integer) continue;
    const bool drops = std::find(dropped.begin(), dropped.end(), axis) != dropped.end();
    const auto range = drops ? known_range(bounds[k], static_of(below.input(0), k)) : std::nullopt;
    position[std::size_t(axis++)] = kept;
    if (range && range->count == 1 && !bounds[k].is_full())
      bounds[k] = at_index(int64_constant(range->start));
    else
      ++kept;
  }
  if (kept == part.ndim()) return std::nullopt;
  std::vector<int> order = op_as<DimShuffle>(node.output())->new_order;
  for (int& from : order)
    if (from != new_axis) from = position[std::size_t(from)];
  return one(fit(dimshuffle(part_of(below.input(0), bounds), order), node.output()));
}

// ---- an index of an index -------------------------------------------------------------------------------------------

// Limits for index arithmetic: sums and products of larger numbers could overflow.
constexpr std::int64_t largest_number = std::int64_t(1) << 30, largest_step = std::int64_t(1) << 20;

// Whether the number is known and not large, a length, of a narrow dtype, or computed from such numbers.
bool is_moderate(const Variable& number, int depth = 4) {
  if (const auto known = known_integer(number)) return *known<largest_number&& * known> - largest_number;
  if (op_as<ShapeI>(number) || itemsize(number.dtype()) < 8) return true;
  const ScalarOp* op = scalar_op_of(number);
  if (!op || depth == 0) return false;
  const bool is_cast = op->name.starts_with("cast");
  if (!is_cast && op->name != "add" && op->name != "sub" && op->name != "maximum" && op->name != "minimum")
    return false;
  for (auto& operand : number.owner().inputs())
    if (!is_discrete(operand.dtype()) || !is_moderate(operand, depth - 1)) return false;
  return true;
}
bool counts_up(const Variable& number) {
  return !number.defined() || (is_moderate(number) && is_never_negative(number));
}
bool counts_back(const Variable& number) {
  return number.defined() && is_known_negative(number) && is_moderate(number);
}

// a + b * step, where null is 0.
Variable advanced(const Variable& a, const Variable& b, std::int64_t step) {
  if (!b.defined()) return a;
  const Variable scaled = lengths::mul(b, int64_constant(step));
  return a.defined() ? lengths::add(a, scaled) : scaled;
}

// The step if it is known and positive, else none.
std::optional<std::int64_t> forward_step(const DimBounds& slice) {
  const auto step = slice.step.defined() ? known_integer(slice.step) : std::optional<std::int64_t>(1);
  if (!step || *step < 1 || *step > largest_step) return std::nullopt;
  return step;
}

bool is_reversal(const DimBounds& slice) {
  return !slice.integer && !slice.start.defined() && !slice.stop.defined() && slice.step.defined() &&
         known_integer(slice.step) == -1;
}

// [a:b:step][i], if an i out of the slice's range is out of x's range, too.
std::optional<DimBounds> element_of_slice(const DimBounds& inner, const Variable& index) {
  if (is_reversal(inner)) {
    const auto known = known_integer(index);
    if (!known || !is_moderate(index)) return std::nullopt;
    return at_index(int64_constant(-1 - *known));
  }
  const auto step = forward_step(inner);
  if (!step) return std::nullopt;
  if (counts_up(index) && counts_up(inner.start)) {
    const Variable position = advanced(inner.start, index, *step);
    if (inner.stop.defined()) {
      const auto at = known_integer(position), end = known_integer(inner.stop);
      if (!at || !end || *at >= *end) return std::nullopt;
    }
    return at_index(position);
  }
  const bool from_front = !inner.start.defined() || known_integer(inner.start) == 0;
  if (*step != 1 || !from_front || !counts_back(index)) return std::nullopt;
  if (!inner.stop.defined()) return at_index(index);
  if (counts_back(inner.stop)) return at_index(lengths::add(inner.stop, index));
  return std::nullopt;
}

// The stop of [a:b:step][:stop] as one slice of x, null for the end of x; none if no slice expresses it.
std::optional<Variable> joint_stop(const DimBounds& inner, const Variable& stop, std::int64_t step) {
  if (inner.stop.defined() && !counts_up(inner.stop) && !counts_back(inner.stop)) return std::nullopt;
  if (!stop.defined()) return inner.stop;
  if (counts_up(stop)) {
    const Variable end = advanced(inner.start, stop, step);
    if (!inner.stop.defined()) return end;
    if (!counts_up(inner.stop)) return std::nullopt;
    return lengths::min(inner.stop, end);
  }
  if (step != 1 || !counts_back(stop)) return std::nullopt;
  if (!inner.stop.defined()) return stop;
  if (!counts_back(inner.stop)) return std::nullopt;
  return lengths::add(inner.stop, stop);
}

// [a:b:step][c:d:t] as one slice.
std::optional<DimBounds> slice_of_slice(const DimBounds& inner, const DimBounds& outer) {
  if (is_reversal(inner) && is_reversal(outer)) return DimBounds{};
  const auto first = forward_step(inner), second = forward_step(outer);
  if (!first || !second || !counts_up(inner.start) || !counts_up(outer.start)) return std::nullopt;
  const auto stop = joint_stop(inner, outer.stop, *first);
  if (!stop) return std::nullopt;
  const std::int64_t step = *first * *second;
  return range(advanced(inner.start, outer.start, *first), *stop, step == 1 ? Variable() : int64_constant(step));
}

std::optional<DimBounds> joint(const DimBounds& inner, const DimBounds& outer, std::int64_t length) {
  if (inner.is_full()) return outer;
  if (outer.is_full()) return inner;
  if (const auto known = known_range(inner, length)) {
    if (outer.integer) {
      const auto position = known_position(outer.index, known->count);
      if (position) return at_index(int64_constant(known->start + *position * known->step));
    } else if (const auto part = known_range(outer, known->count)) {
      return slice_of({known->start + part->start * known->step, part->count, part->step * known->step});
    }
  }
  return outer.integer ? element_of_slice(inner, outer.index) : slice_of_slice(inner, outer);
}

std::optional<Variables> subtensor_of_subtensor(FunctionGraph&, const Apply& node) {
  const Variable& inner = node.input(0);
  if (!op_as<Subtensor>(inner)) return std::nullopt;
  const Apply below = inner.owner();
  Bounds bounds = bounds_of(below);
  const Bounds outer = bounds_of(node);
  std::size_t next = 0;
  for (std::size_t axis = 0; axis < bounds.size(); ++axis) {
    if (bounds[axis].integer) continue;
    const auto both = joint(bounds[axis], outer[next++], static_of(below.input(0), axis));
    if (!both) return std::nullopt;
    bounds[axis] = *both;
  }
  return one(fit(part_of(below.input(0), bounds), node.output()));
}

// ---- gathers --------------------------------------------------------------------------------------------------------

// The slice that takes the positions v[0], v[1], ..., if they are evenly spaced.
std::optional<DimBounds> slice_through(const Array& positions, std::int64_t length) {
  const Array values = positions.astype(DType::Int64).contiguous();
  const std::int64_t* v = values.data_as<std::int64_t>();
  const std::int64_t count = values.size();
  if (count == 0) return slice_of({0, 0, 1});
  const std::int64_t step = count > 1 ? v[1] - v[0] : 1;
  for (std::int64_t k = 1; k < count; ++k)
    if (v[k] - v[k - 1] != step) return std::nullopt;
  const std::int64_t last = v[count - 1];
  const bool negative = v[0] < 0 && last < 0;
  const std::int64_t shift = negative && length != unknown_length ? length : 0;
  const auto is_there = [&](std::int64_t at) { return at >= 0 && at < length; };
  if (step == 0 || !is_there(v[0] + shift) || !is_there(last + shift)) return std::nullopt;
  return slice_of({v[0] + shift, count, step});
}

// The same for an index of a dimension of x. A slice is clipped at the end of x, so no position may be beyond it.
std::optional<DimBounds> slice_through(const Variable& index, const Variable& x, int axis) {
  const std::int64_t length = x.static_shape()[std::size_t(axis)];
  if (index.ndim() != 1 || !is_integer(index.dtype())) return std::nullopt;
  if (const Array* positions = index.constant()) return slice_through(*positions, length);
  if (!op_as<ARange>(index)) return std::nullopt;
  const Apply made = index.owner();
  for (auto& number : made.inputs())
    if (!is_integer(number.dtype())) return std::nullopt;
  const Variable start = made.input(0), stop = made.input(1);
  const auto step = known_integer(made.input(2));
  if (!step || *step < 1 || !is_never_negative(start) || !is_never_negative(stop)) return std::nullopt;
  const auto end = known_integer(stop);
  const bool ends_within = end && length != unknown_length ? *end <= length : is_same_length(stop, length_of(x, axis));
  if (!ends_within) return std::nullopt;
  return range(start, stop, *step == 1 ? Variable() : int64_constant(*step));
}

// x[:, arange(a, b)] is x[:, a:b].
std::optional<Bounds> as_slices(const Apply& node, const std::vector<int>& axes, int first) {
  const Variable& x = node.input(0);
  if (axes.size() != 1) return std::nullopt;
  const auto slice = slice_through(node.input(first), x, axes[0]);
  if (!slice) return std::nullopt;
  Bounds bounds(std::size_t(x.ndim()));
  bounds[std::size_t(axes[0])] = *slice;
  return bounds;
}

std::optional<Variables> gather_to_slice(FunctionGraph&, const Apply& node) {
  const auto bounds = as_slices(node, op_as<AdvancedSubtensor>(node.output())->axes, 1);
  if (!bounds) return std::nullopt;
  return one(fit(part_of(node.input(0), *bounds), node.output()));
}

std::optional<Variables> scatter_to_slice(FunctionGraph&, const Apply& node) {
  const auto& op = *op_as<AdvancedIncSubtensor>(node.output());
  const auto bounds = as_slices(node, op.axes, 2);
  if (!bounds) return std::nullopt;
  return one(fit(updated(node.input(0), node.input(1), *bounds, op.set), node.output()));
}

void declare_subtensor(Rules& rules) {
  const Root root = Root::op({"Subtensor"});
  rules.function("useless_slices", root, useless_slices)
      .doc("Removes slice bounds that equal the defaults.")
      .tags(useless, canonicalize, stabilize, structural, specialize, "local_useless_slice", "local_useless_subtensor")
      .sample([] {
        return exp(subtensor(sample_matrix(), {Slice{0, {}, 1}}));
      })
      .sample([] {
        const Variable x = sample_vector();
        return exp(subtensor(x, {Slice{0, shape_i(x, 0), {}}}));
      })
      .sample([] {
        return exp(subtensor(sample_leaf(DType::Float64, {3}), {Slice{1, 7, {}}}));
      });
  rules.function("positive_positions", root, positive_positions)
      .doc("Rewrites negative indices into a dimension of known length as non-negative ones.")
      .tags(canonicalize, "local_convert_negative_indices")
      .sample([] {
        return subtensor(sample_leaf(DType::Float64, {3, 4}), {IndexItem(-1), Slice{-3, -1, {}}});
      });
  rules.function("only_element", root, only_element)
      .doc("Rewrites an index into a dimension of length 1 as a view that drops the dimension.")
      .tags(canonicalize, specialize, "local_subtensor_remove_broadcastable_index")
      .sample([] {
        return subtensor(sample_leaf(DType::Float64, {any_length, 1, any_length}), {IndexItem(2), IndexItem(-1)});
      });
  rules.function("dropped_slice", Root::op({"DimShuffle"}), dropped_slice)
      .doc("Rewrites a slice of one element whose dimension is dropped as an integer index.")
      .tags(uncanonicalize, "local_dimshuffle_subtensor")
      .sample([] {
        const Variable x = sample_leaf(DType::Float64, {4, any_length, 3});
        return dimshuffle(subtensor(x, {Slice{2, 3, {}}, Slice{}, Slice{-1, {}, {}}}), {new_axis, 1});
      });
  rules.function("subtensor_of_subtensor", root, subtensor_of_subtensor)
      .doc("Merges nested indices: x[i][j] becomes x[i, j], x[a:b][c:d] one slice, and x[a:b][i] one element.")
      .tags(canonicalize, specialize, shape_unsafe, "local_subtensor_merge_integer", "local_subtensor_merge_slice")
      .sample([] {
        return subtensor(subtensor(sample_matrix(), {IndexItem(1)}), {Slice{1, {}, {}}});
      })
      .sample([] {
        return subtensor(subtensor(sample_vector(), {Slice{{}, -1, {}}}), {Slice{1, {}, {}}});
      })
      .sample([] {
        return subtensor(subtensor(sample_vector(), {Slice{1, 7, {}}}), {Slice{{}, 1, {}}});
      })
      .sample([] {
        return subtensor(subtensor(sample_matrix(), {Slice{1, {}, {}}, Slice{{}, {}, -1}}),
                         {IndexItem(1), IndexItem(0)});
      })
      .sample([] {
        return subtensor(subtensor(sample_vector(), {Slice{{}, -1, {}}}), {IndexItem(-1)});
      })
      .sample([] {
        const Variable x = sample_leaf(DType::Float64, {9});
        return subtensor(subtensor(x, {Slice{-2, {}, -2}}), {Slice{-1, {}, -1}});
      })
      .sample([] {
        return subtensor(subtensor(sample_vector(), {Slice{{}, 7, 2}}), {IndexItem(1)});
      });
  rules.function("gather_to_slice", Root::op({"AdvancedSubtensor"}), gather_to_slice)
      .doc("Rewrites a gather at evenly spaced positions as a slice.")
      .tags(canonicalize, specialize, shape_unsafe, "local_adv_idx_to_slice")
      .sample([] {
        return subtensor(sample_leaf(DType::Float64, {any_length, 3}),
                         {Slice{}, IndexItem(constant(Array{2L, 1L, 0L}))});
      })
      .sample([] {
        const Variable x = sample_vector();
        return subtensor(x, {IndexItem(arange(1, shape_i(x, 0), 1))});
      })
      .sample([] {
        return subtensor(sample_leaf(DType::Float64, {5}), {IndexItem(constant(Array{-2L, -1L}))});
      });
  rules.function("scatter_to_slice", Root::op({"AdvancedIncSubtensor"}), scatter_to_slice)
      .doc("Rewrites an update at evenly spaced positions as an update of a slice.")
      .tags(canonicalize, specialize, shape_unsafe, "local_adv_idx_to_slice")
      .sample([] {
        return inc_subtensor(sample_leaf(DType::Float64, {3}), {IndexItem(constant(Array{2L, 0L}))},
                             constant(Array{1.5, 2.5}));
      })
      .sample([] {
        const Variable x = sample_matrix();
        return set_subtensor(x, {IndexItem(arange(1, shape_i(x, 0), 1))}, 2.5);
      });
}

const RegisterRules register_subtensor("subtensor", declare_subtensor);

}  // namespace

}  // namespace bitale::rewriting
