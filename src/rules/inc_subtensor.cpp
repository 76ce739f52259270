// Updates of a part of an array: updates that change nothing or everything are removed, updates of the same part are
// merged, and reads after a write are forwarded past it.
#include "ops/indexing/inc_subtensor.hpp"

#include <algorithm>
#include <limits>

#include "ops/analysis/lengths.hpp"
#include "ops/indexing/advanced_inc_subtensor.hpp"
#include "ops/indexing/advanced_subtensor.hpp"
#include "ops/indexing/subtensor.hpp"
#include "ops/shapes/alloc.hpp"
#include "ops/shapes/shape.hpp"
#include "rules/subtensor_bounds.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

// The value of all elements, if it is one constant, possibly repeated to unknown lengths.
std::optional<double> repeated_number(const Variable& v) {
  return scalar_constant(op_as<Alloc>(v) ? v.owner().input(0) : v);
}
bool is_zero_update(const Variable& v) { return repeated_number(v) == 0.0; }

// Any update, basic or with index tensors. Its inputs are x, y and the index.
struct Update {
  bool set;
  Apply node;
  Variable x() const { return node.input(0); }
  Variable y() const { return node.input(1); }
  // The same update applied to another x and another value.
  Variable of(const Variable& x, const Variable& y) const {
    Variables inputs = node.inputs();
    inputs[0] = x;
    inputs[1] = y;
    return node.op()(inputs);
  }
};

std::optional<Update> update_at(const Variable& v) {
  if (const auto* op = op_as<IncSubtensor>(v)) return Update{op->set, v.owner()};
  if (const auto* op = op_as<AdvancedIncSubtensor>(v)) return Update{op->set, v.owner()};
  return std::nullopt;
}

bool is_basic(const Update& update) { return dynamic_cast<const IncSubtensor*>(&update.node.op()) != nullptr; }

bool value_fits(const Update& update) {
  return update.y().ndim() == 0 || fits(update.y(), lengths_of_updated(update.node));
}

// Whether the index is in range for all inputs, so that no error is lost when the update is removed.
bool index_never_fails(const Update& update) {
  const Dims& lengths = update.x().static_shape();
  if (is_basic(update)) return never_fails(bounds_of(update.node), lengths);
  const auto& op = dynamic_cast<const AdvancedIncSubtensor&>(update.node.op());
  for (std::size_t k = 0; k < op.axes.size(); ++k)
    if (!are_positions(update.node.input(int(2 + k)), lengths[std::size_t(op.axes[k])])) return false;
  return true;
}

bool never_fails(const Update& update) { return index_never_fails(update) && value_fits(update); }

// Whether both updates write the same part.
bool same_part(const Update& a, const Update& b) {
  if (is_basic(a) && is_basic(b)) return is_same(bounds_of(a.node), bounds_of(b.node));
  const auto* first = dynamic_cast<const AdvancedIncSubtensor*>(&a.node.op());
  const auto* second = dynamic_cast<const AdvancedIncSubtensor*>(&b.node.op());
  if (!first || !second || first->axes != second->axes) return false;
  for (std::size_t k = 2; k < a.node.inputs().size(); ++k)
    if (!a.node.inputs()[k].same_as(b.node.inputs()[k])) return false;
  return true;
}

// ---- updates that do little -----------------------------------------------------------------------------------------

bool takes_all(const Variable& x, const Bounds& bounds) {
  for (std::size_t axis = 0; axis < bounds.size(); ++axis) {
    const DimBounds& dim = bounds[axis];
    if (dim.is_full()) continue;
    const std::int64_t length = x.static_shape()[axis];
    const auto known = known_range(dim, length);
    if (known && known->start == 0 && known->count == length && known->step == 1) continue;
    const bool from_start = !dim.integer && (!dim.start.defined() || known_integer(dim.start) == 0);
    const auto* stop = dim.stop.defined() ? op_as<ShapeI>(dim.stop) : nullptr;
    const bool to_end = !dim.stop.defined() || (stop && stop->i == int(axis) && dim.stop.owner().input(0).same_as(x));
    if (!from_start || !to_end || (dim.step.defined() && known_integer(dim.step) != 1)) return false;
  }
  return true;
}

// Incrementing by 0 is x; setting all of x is the new value.
std::optional<Variables> useless_update(FunctionGraph&, const Apply& node) {
  const Update update = *update_at(node.output());
  const Variable x = update.x(), y = update.y();
  if (!update.set && is_zero_update(y) && never_fails(update)) return one(x);
  if (!is_basic(update) || y.dtype() != x.dtype() || !takes_all(x, bounds_of(node))) return std::nullopt;
  if (!update.set && x.dtype() == DType::Bool) return std::nullopt;
  if (!value_fits(update)) return std::nullopt;
  return one(fit(update.set ? y : x + y, node.output()));
}

// Writing the value that all elements already have.
std::optional<Variables> write_of_same(FunctionGraph&, const Apply& node) {
  const Update update = *update_at(node.output());
  if (!update.set) return std::nullopt;
  const auto there = repeated_number(update.x()), written = repeated_number(update.y());
  if (!there || !written || !never_fails(update) || Array(*written).astype(update.x().dtype()).item() != *there)
    return std::nullopt;
  return one(update.x());
}

// Whether x is zero in this part: zeros, possibly updated in other parts.
bool is_zero_in(Variable x, const Bounds& part) {
  constexpr int max_updates = 32;
  for (int i = 0; i < max_updates; ++i) {
    if (is_zero_update(x)) return true;
    const auto update = update_at(x);
    if (!update || !is_basic(*update)) return false;
    if (!are_disjoint(bounds_of(update->node), part, x.static_shape())) return false;
    x = update->x();
  }
  return false;
}

// zeros[i].inc(y) is zeros[i].set(y).
std::optional<Variables> update_of_zeros(FunctionGraph&, const Apply& node) {
  const Update update = *update_at(node.output());
  if (update.set || !is_basic(update) || !is_zero_in(update.x(), bounds_of(node))) return std::nullopt;
  return one(updated(update.x(), update.y(), bounds_of(node), true));
}

// x[i].set(x[i] + y) is x[i].inc(y).
std::optional<Variables> write_of_sum(FunctionGraph&, const Apply& node) {
  const Update update = *update_at(node.output());
  const Variable x = update.x(), value = update.y();
  if (!update.set || !is_elemwise(value, "add") || value.dtype() != x.dtype() || x.dtype() == DType::Bool)
    return std::nullopt;
  const Apply sum = value.owner();
  for (int i = 0; i < 2; ++i) {
    const Variable &read = sum.input(i), &y = sum.input(1 - i);
    if (!op_as<Subtensor>(read) || !read.owner().input(0).same_as(x) || !same_broadcast(read, value)) continue;
    if (!is_same(bounds_of(read.owner()), bounds_of(node))) continue;
    return one(updated(x, cast(y, x.dtype()), bounds_of(node), false));
  }
  return std::nullopt;
}

bool has_same_lengths(const Variable& a, const Variable& b) {
  for (int axis = 0; axis < a.ndim(); ++axis)
    if (!is_same_length(length_of(a, axis), length_of(b, axis))) return false;
  return true;
}

// x + zeros[i].inc(y) is x[i].inc(y): gradients of indexing accumulate in place.
std::optional<Variables> add_of_sparse_update(FunctionGraph& graph, const Apply& node) {
  const Variable output = node.output();
  if (output.dtype() == DType::Bool) return std::nullopt;
  for (int i = 0; i < 2; ++i) {
    const Variable &part = node.input(i), &x = node.input(1 - i);
    const std::optional<Update> update = update_at(part);
    if (!update || !is_zero_update(update->x()) || graph.clients(part).size() != 1) continue;
    if (update->set && !is_basic(*update)) continue;  // an element that is set twice would be added twice
    if (x.dtype() != output.dtype() || part.dtype() != output.dtype() || !same_broadcast(x, output) ||
        !same_broadcast(part, output))
      continue;
    if (!has_same_lengths(x, update->x())) continue;
    if (is_basic(*update)) return one(fit(updated(x, update->y(), bounds_of(update->node), false), output));
    return one(fit(update->of(x, update->y()), output));
  }
  return std::nullopt;
}

// ---- updates of the same part ---------------------------------------------------------------------------------------

std::optional<Variables> update_of_update(FunctionGraph& graph, const Apply& node) {
  const Update outer = *update_at(node.output());
  const std::optional<Update> inner = update_at(outer.x());
  if (!inner || !same_part(*inner, outer)) return std::nullopt;
  if (!value_fits(*inner)) return std::nullopt;
  if (outer.set) return one(outer.of(inner->x(), outer.y()));
  // A position that index tensors name twice is set once but incremented twice.
  if (inner->set && !is_basic(outer)) return std::nullopt;
  const DType dtype = outer.x().dtype();
  if (dtype == DType::Bool || graph.clients(outer.x()).size() != 1 || !value_fits(outer)) return std::nullopt;
  return one(inner->of(inner->x(), cast(inner->y(), dtype) + cast(outer.y(), dtype)));
}

// ---- reading after a write ------------------------------------------------------------------------------------------

constexpr std::int64_t no_end = std::numeric_limits<std::int64_t>::max();

// The positions [low, high), for any length of the dimension; none if they are not known.
struct Interval {
  std::int64_t low, high;
};
std::optional<Interval> interval_of(const DimBounds& dim, std::int64_t length) {
  if (dim.integer) {
    const auto known = known_integer(dim.index), position = known_position(dim.index, length);
    if (position) return Interval{*position, *position + 1};
    if (!known || *known < 0) return std::nullopt;
    return Interval{*known, *known + 1};
  }
  if (const auto known = known_range(dim, length)) {
    const std::int64_t last = known->start + (known->count - 1) * known->step;
    if (known->count == 0) return Interval{0, 0};
    return Interval{std::min(known->start, last), std::max(known->start, last) + 1};
  }
  auto bound = [](const Variable& number, std::int64_t otherwise) {
    return number.defined() ? known_integer(number) : std::optional(otherwise);
  };
  const auto start = bound(dim.start, 0), stop = bound(dim.stop, no_end), step = bound(dim.step, 1);
  if (!start || !stop || !step || *start < 0 || *stop < 0 || *step < 1) return std::nullopt;
  return Interval{*start, *stop};
}

bool have_disjoint_intervals(const Variable& x, const Bounds& read, const Bounds& write) {
  for (std::size_t axis = 0; axis < read.size(); ++axis) {
    const auto a = interval_of(read[axis], x.static_shape()[axis]);
    const auto b = interval_of(write[axis], x.static_shape()[axis]);
    if (a && b && (a->high <= b->low || b->high <= a->low)) return true;
  }
  return false;
}

// x[i].set(y)[i] is y, x[i].inc(y)[i] is x[i] + y, and reads of other parts read x. A chain of writes of other parts is
// passed at once, so that reading each element of a vector that was written element by element takes one step each.
std::optional<Variables> read_of_write(FunctionGraph&, const Apply& node) {
  const Bounds read = bounds_of(node);
  const auto read_from = [&](const Variable& x) { return one(fit(part_of(x, read), node.output())); };
  for (Variable from = node.input(0);; from = from.owner().input(0)) {
    const auto* write = op_as<IncSubtensor>(from);
    const auto otherwise = [&] { return from.same_as(node.input(0)) ? std::nullopt : read_from(from); };
    if (!write) return otherwise();
    const Apply written = from.owner();
    const Variable &x = written.input(0), &y = written.input(1);
    const Bounds part = bounds_of(written);
    const Update update{write->set, written};
    if (!value_fits(update)) return otherwise();
    const bool never_fails = index_never_fails(update);
    if (never_fails && have_disjoint_intervals(x, read, part)) continue;
    if (!is_same(read, part)) return otherwise();
    const Variable value = cast(y, x.dtype());
    if (write->set) return never_fails ? one(fit(value, node.output())) : otherwise();
    if (x.dtype() == DType::Bool) return otherwise();
    return one(fit(part_of(x, read) + value, node.output()));
  }
}

// The part of y that is read, dimension by dimension; dimensions that broadcast have only position 0.
Variable part_of_value(const Variable& y, const Bounds& region_read) {
  Bounds bounds(region_read.end() - y.ndim(), region_read.end());
  for (int axis = 0; axis < y.ndim(); ++axis)
    if (is_one(y, axis))
      bounds[std::size_t(axis)] = bounds[std::size_t(axis)].integer ? at_index(int64_constant(0)) : DimBounds{};
  return part_of(y, bounds);
}

// Along dimensions that the write covers in full, the read moves before the write: x[:, i].set(y)[j] is
// x[j][i].set(y[j]).
std::optional<Variables> read_along_write(FunctionGraph& graph, const Apply& node) {
  const auto* write = op_as<IncSubtensor>(node.input(0));
  if (!write || graph.clients(node.input(0)).size() != 1) return std::nullopt;
  const Apply written = node.input(0).owner();
  const Variable &x = written.input(0), &y = written.input(1);
  const Bounds read = bounds_of(node), part = bounds_of(written);
  if (all_full(read) || !value_fits({write->set, written})) return std::nullopt;
  Bounds left, region;
  for (std::size_t axis = 0; axis < read.size(); ++axis) {
    if (!read[axis].is_full() && !part[axis].is_full()) return std::nullopt;
    if (!read[axis].integer) left.push_back(part[axis]);
    if (!part[axis].integer) region.push_back(read[axis]);
  }
  return one(fit(updated(part_of(x, read), part_of_value(y, region), left, write->set), node.output()));
}

// ---- constant index tensors -----------------------------------------------------------------------------------------

// The known positions, counted from the front, if all of them are in range.
std::optional<std::vector<std::int64_t>> known_positions(const Variable& index, std::int64_t length) {
  if (index.ndim() != 1 || !are_positions(index, length)) return std::nullopt;
  const Array values = index.constant()->astype(DType::Int64).contiguous();
  const std::int64_t* v = values.data_as<std::int64_t>();
  std::vector<std::int64_t> out(v, v + values.size());
  for (auto& at : out)
    if (at < 0) at += length;
  return out;
}

bool has_repeats(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  return std::adjacent_find(values.begin(), values.end()) != values.end();
}

// For each position, the index of its last write; nothing if only some were written, empty if none were.
std::optional<std::vector<std::int64_t>> last_writes(const std::vector<std::int64_t>& read,
                                                     const std::vector<std::int64_t>& written) {
  std::vector<std::int64_t> out;
  for (auto at : read) {
    const auto last = std::find(written.rbegin(), written.rend(), at);
    if (last != written.rend()) out.push_back(std::int64_t(written.rend() - last) - 1);
  }
  if (!out.empty() && out.size() != read.size()) return std::nullopt;
  return out;
}

constexpr std::size_t max_positions = 4096;

std::optional<Variables> gather_of_scatter(FunctionGraph&, const Apply& node) {
  const auto* write = op_as<AdvancedIncSubtensor>(node.input(0));
  const auto& axes = op_as<AdvancedSubtensor>(node.output())->axes;
  if (!write || axes.size() != 1 || write->axes != axes) return std::nullopt;
  const Apply written = node.input(0).owner();
  const Variable &x = written.input(0), &y = written.input(1);
  const std::int64_t length = x.static_shape()[std::size_t(axes[0])];
  const auto read = known_positions(node.input(1), length), to = known_positions(written.input(2), length);
  if (!read || !to || !value_fits({write->set, written}) || read->size() * to->size() > max_positions)
    return std::nullopt;
  const auto from = last_writes(*read, *to);
  if (!from) return std::nullopt;
  const Variable before = node.op()({x, node.input(1)});
  if (from->empty()) return one(fit(before, node.output()));
  if (!write->set && (has_repeats(*to) || x.dtype() == DType::Bool)) return std::nullopt;
  Variable value = cast(y, x.dtype());
  const int axis = axes[0] - (x.ndim() - y.ndim());  // of y, along the index
  if (axis >= 0 && !is_one(y, axis)) value = take(value, constant(Array(*from)), axis);
  return one(fit(write->set ? value : before + value, node.output()));
}

void declare_inc_subtensor(Rules& rules) {
  auto number = [] { return sample_leaf(DType::Float64, {}); };
  auto index = [] {
    const Variable i = sample_leaf(DType::Int64, {});
    return i - i + 1;
  };
  auto zeros_of = [](const Variable& x) { return alloc(constant(Array(0.0)), {shape_i(x, 0)}); };
  auto zeros_like_vector = [=] { return zeros_of(sample_vector()); };
  const Root updates = Root::op({"IncSubtensor", "AdvancedIncSubtensor"}), read = Root::op({"Subtensor"});
  rules.function("useless_update", updates, useless_update)
      .doc("Removes an increment by 0, and rewrites an update of a whole array without indexing.")
      .tags(canonicalize, stabilize, structural, specialize, "local_useless_inc_subtensor",
            "local_incsubtensor_of_zeros")
      .sample([] {
        return exp(set_subtensor(sample_vector(), {Slice{0, {}, {}}}, sample_vector()));
      })
      .sample([] {
        return exp(inc_subtensor(sample_vector(), {Slice{1, {}, {}}}, 0.0));
      })
      .sample([] {
        return exp(inc_subtensor(sample_leaf(DType::Float64, {3}), {Slice{-3, 5, {}}}, sample_vector()));
      })
      .sample([] {
        return inc_subtensor(sample_leaf(DType::Float64, {3, any_length}), {IndexItem(constant(Array{2L, 0L}))}, 0.0) +
               1;
      });
  rules.function("write_of_same", updates, write_of_same)
      .doc("Removes a write of a constant to an array whose elements all equal it already.")
      .tags(canonicalize, stabilize, structural, "local_setsubtensor_of_constants")
      .sample([=] {
        return set_subtensor(alloc(constant(Array(2.5)), {constant(Array(3L))}), {IndexItem(1)}, 2.5) + sample_vector();
      });
  rules.function("update_of_zeros", updates, update_of_zeros)
      .doc("Rewrites an increment of a part that is zero as a write: zeros[i].inc(y) becomes zeros[i].set(y).")
      .tags(canonicalize, specialize, "local_incsubtensor_of_zeros_to_setsubtensor")
      .no_signed_zeros()
      .sample([=] { return inc_subtensor(zeros_like_vector(), {IndexItem(1)}, number()); })
      .sample([=] {
        const Variable begun = inc_subtensor(zeros_like_vector(), {Slice{1, {}, {}}}, 2.5);
        return inc_subtensor(begun, {IndexItem(0)}, number());
      })
      .sample([=] {
        const Variable begun = set_subtensor(zeros_like_vector(), {Slice{{}, 1, {}}}, 2.5);
        return inc_subtensor(begun, {Slice{2, {}, {}}}, number());
      });
  rules.function("write_of_sum", Root::op({"IncSubtensor"}), write_of_sum)
      .doc("Rewrites x[i].set(x[i] + y) as x[i].inc(y).")
      .tags(canonicalize, specialize, "local_set_to_inc_subtensor")
      .sample([] {
        const Variable x = sample_matrix();
        return set_subtensor(x, {Slice{1, {}, {}}}, sample_vector() + subtensor(x, {Slice{1, {}, {}}}));
      });
  rules.function("add_of_sparse_update", Root::scalar({"add"}), add_of_sparse_update)
      .doc("Rewrites x + zeros[i].inc(y) and x + zeros[i].set(y) as x[i].inc(y).")
      .tags(canonicalize, stabilize, structural, specialize, "local_add_of_sparse_write",
            "local_IncSubtensor_serialize", "pre_local_IncSubtensor_serialize")
      .sample([=] {
        const Variable x = sample_vector();
        return x + inc_subtensor(zeros_of(x), {Slice{1, {}, {}}}, 2.5);
      })
      .sample([=] {
        const Variable zeros = zeros_like_vector();
        return inc_subtensor(zeros, {IndexItem(0)}, number()) + set_subtensor(zeros, {Slice{1, {}, {}}}, number());
      })
      .sample([=] {
        const Variable rows = constant(Array{0L, 2L, 2L});
        const Variable x = sample_vector();
        return x + inc_subtensor(zeros_of(x), {IndexItem(rows)}, sample_vector());
      });
  rules.function("update_of_update", updates, update_of_update)
      .doc(
          "Merges two updates of the same part: a later write replaces the earlier update, a later increment is added "
          "to its value.")
      .tags(canonicalize, stabilize, structural, specialize, "local_write_of_write_same_indices")
      .sample([=] {
        const Variable i = index();
        return set_subtensor(inc_subtensor(sample_vector(), {IndexItem(i)}, number()), {IndexItem(i)}, number());
      })
      .sample([] {
        return inc_subtensor(set_subtensor(sample_matrix(), {Slice{1, {}, {}}}, 2.5), {Slice{1, {}, {}}},
                             sample_vector());
      })
      .sample([] {
        const Variable rows = constant(Array{0L, 2L, 2L});
        return inc_subtensor(inc_subtensor(sample_vector(), {IndexItem(rows)}, sample_vector()), {IndexItem(rows)},
                             sample_vector());
      });
  rules.function("subtensor_of_write", read, read_of_write)
      .doc("Rewrites x[i].set(y)[i] as y, x[i].inc(y)[i] as x[i] + y, and a read of a disjoint part as a read of x.")
      .tags(canonicalize, specialize, shape_unsafe, "local_read_of_write_same_indices")
      .sample([=] {
        return exp(
            subtensor(set_subtensor(sample_leaf(DType::Float64, {4}), {IndexItem(1)}, number()), {IndexItem(1)}));
      })
      .sample([=] {
        const Variable i = index();
        return exp(subtensor(inc_subtensor(sample_matrix(), {IndexItem(i)}, number()), {IndexItem(i)}));
      })
      .sample([=] {
        const Variable x = sample_leaf(DType::Float64, {4});
        return exp(subtensor(set_subtensor(x, {IndexItem(2)}, number()), {Slice{{}, 2, {}}}));
      });
  rules.function("subtensor_along_write", read, read_along_write)
      .doc("Moves a read before a write along dimensions that the write covers in full.")
      .tags(canonicalize, specialize, shape_unsafe, "local_slice_read_of_write")
      .sample([] {
        return subtensor(set_subtensor(sample_matrix(), {Slice{}, IndexItem(1)}, sample_vector()), {IndexItem(2)});
      })
      .sample([] {
        return subtensor(inc_subtensor(sample_matrix(), {Slice{1, {}, {}}}, sample_vector()),
                         {Slice{}, Slice{1, {}, {}}});
      })
      .sample([=] {
        return subtensor(inc_subtensor(sample_matrix(), {Slice{1, {}, {}}}, number()), {Slice{}, IndexItem(1)});
      });
  rules.function("gather_of_scatter", Root::op({"AdvancedSubtensor"}), gather_of_scatter)
      .doc(
          "Rewrites a gather from an update, both at constant positions, as a gather from the written values or from "
          "the original array.")
      .tags(canonicalize, specialize, shape_unsafe, "local_advanced_read_of_write_constant_indices")
      .sample([] {
        const Variable rows = constant(Array{2L, 0L, 2L}), again = constant(Array{2L, 2L, 0L, 0L});
        const Variable x = sample_leaf(DType::Float64, {3, any_length});
        return exp(subtensor(set_subtensor(x, {IndexItem(rows)}, sample_matrix()), {IndexItem(again)}));
      })
      .sample([] {
        const Variable columns = constant(Array{2L, 0L}), again = constant(Array{0L, 0L, 2L});
        return exp(subtensor(inc_subtensor(sample_leaf(DType::Float64, {any_length, 3}), {Slice{}, IndexItem(columns)},
                                           sample_leaf(DType::Float64, {any_length, 2})),
                             {Slice{}, IndexItem(again)}));
      })
      .sample([] {
        const Variable rows = constant(Array{2L, 2L}), others = constant(Array{0L, 0L, 1L});
        const Variable x = sample_leaf(DType::Float64, {3});
        return exp(subtensor(inc_subtensor(x, {IndexItem(rows)}, 2.5), {IndexItem(others)}));
      });
}

const RegisterRules register_inc_subtensor("inc_subtensor", declare_inc_subtensor);

}  // namespace

}  // namespace bitale::rewriting
