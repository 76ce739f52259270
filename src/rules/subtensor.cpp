// Basic indexing: bounds that say nothing go, nested indices join, elements of vectors made of scalars are those
// scalars, and updates that change nothing or everything are recognised.
#include "ops/subtensor.hpp"

#include <algorithm>

#include "ops/advanced_inc_subtensor.hpp"
#include "ops/alloc.hpp"
#include "ops/inc_subtensor.hpp"
#include "ops/join.hpp"
#include "ops/lengths.hpp"
#include "ops/make_vector.hpp"
#include "ops/shape.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

// An index dimension with its numbers; absent ones are null.
struct DimBounds {
  bool integer = false;
  Variable index, start, stop, step;
};

std::vector<DimBounds> bounds_of(const IndexPattern& pattern, const Apply& node, int first) {
  std::vector<DimBounds> out;
  int next = first;
  auto take = [&](bool present) { return present ? node.input(next++) : Variable(); };
  for (auto& dim : pattern.dims()) {
    DimBounds bounds{.integer = dim.integer, .index = {}, .start = {}, .stop = {}, .step = {}};
    if (dim.integer) {
      bounds.index = take(true);
    } else {
      bounds.start = take(dim.start);
      bounds.stop = take(dim.stop);
      bounds.step = take(dim.step);
    }
    out.push_back(bounds);
  }
  return out;
}

Variable index_by(const Variable& x, const std::vector<DimBounds>& dims) {
  std::vector<DimIndex> pattern;
  Variables inputs{x};
  for (auto& dim : dims) {
    pattern.push_back({dim.integer, bool(dim.start), bool(dim.stop), bool(dim.step)});
    for (auto& number : {dim.index, dim.start, dim.stop, dim.step})
      if (number) inputs.push_back(number);
  }
  const IndexPattern all(std::move(pattern));
  return all.dims().empty() ? x : (*make_ref<Subtensor>(all))(inputs);
}

bool is_length(const Variable& scalar, const Variable& x, int axis) {
  const auto* op = op_as<ShapeI>(scalar);
  return op && op->i == axis && scalar.owner().input(0).same_as(x);
}

// Bounds that the slice would have anyway: x[0:len(x):1].
bool drop_useless_bounds(DimBounds& dim, const Variable& x, int axis) {
  if (dim.integer) return false;
  bool changed = false;
  auto drop = [&](Variable& bound) { bound = Variable(), changed = true; };
  const std::int64_t length = x.static_shape()[std::size_t(axis)];
  if (dim.step && known_integer(dim.step) == 1) drop(dim.step);
  if (dim.step) return changed;  // other steps may be negative
  if (dim.start) {
    const auto start = known_integer(dim.start);
    if (start == 0 || (start && length != unknown_length && *start <= -length)) drop(dim.start);
  }
  if (dim.stop) {
    const auto stop = known_integer(dim.stop);
    if ((stop && length != unknown_length && *stop >= length) || is_length(dim.stop, x, axis)) drop(dim.stop);
  }
  return changed;
}

const IndexPattern& pattern_of(const Apply& node) { return op_as<Subtensor>(node.output())->pattern; }

std::optional<Variables> useless_slices(FunctionGraph&, const Apply& node) {
  const Variable& x = node.input(0);
  std::vector<DimBounds> dims = bounds_of(pattern_of(node), node, 1);
  bool changed = dims.empty();
  for (std::size_t axis = 0; axis < dims.size(); ++axis) changed |= drop_useless_bounds(dims[axis], x, int(axis));
  if (!changed) return std::nullopt;
  return one(fit(index_by(x, dims), node.output()));
}

// x[i][j] is x[i, j]: integers in front leave the other dimensions as they were.
std::optional<Variables> subtensor_of_subtensor(FunctionGraph&, const Apply& node) {
  const Variable& inner = node.input(0);
  if (!op_as<Subtensor>(inner)) return std::nullopt;
  const Apply below = inner.owner();
  std::vector<DimBounds> dims = bounds_of(pattern_of(below), below, 1);
  const std::vector<DimBounds> outer = bounds_of(pattern_of(node), node, 1);
  if (!std::all_of(dims.begin(), dims.end(), [](auto& dim) { return dim.integer; })) return std::nullopt;
  dims.insert(dims.end(), outer.begin(), outer.end());
  return one(fit(index_by(below.input(0), dims), node.output()));
}

// The position that a known, maybe negative index means; none when it is outside.
std::optional<std::size_t> position(std::int64_t index, std::size_t length) {
  if (index < 0) index += std::int64_t(length);
  if (index < 0 || index >= std::int64_t(length)) return std::nullopt;
  return std::size_t(index);
}

// What a slice with known bounds selects of `length` elements.
std::optional<std::vector<std::size_t>> selected(const DimBounds& dim, std::int64_t length) {
  auto known = [](const Variable& bound, std::int64_t otherwise) {
    return bound ? known_integer(bound) : std::optional(otherwise);
  };
  const auto step = known(dim.step, 1), start = known(dim.start, 0), stop = known(dim.stop, length);
  if (!step || *step < 1 || !start || !stop) return std::nullopt;
  auto clamp = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + length : at, 0, length); };
  std::vector<std::size_t> out;
  for (std::int64_t at = clamp(*start); at < clamp(*stop); at += *step) out.push_back(std::size_t(at));
  return out;
}

std::optional<Variables> subtensor_of_make_vector(FunctionGraph&, const Apply& node) {
  const Variable& vector = node.input(0);
  const auto* made = op_as<MakeVector>(vector);
  const std::vector<DimBounds> dims = bounds_of(pattern_of(node), node, 1);
  if (!made || dims.size() != 1) return std::nullopt;
  const Variables elements = vector.owner().inputs();
  if (dims[0].integer) {
    const auto index = known_integer(dims[0].index);
    const auto at = index ? position(*index, elements.size()) : std::nullopt;
    return at ? one(elements[*at]) : std::nullopt;
  }
  const auto places = selected(dims[0], std::int64_t(elements.size()));
  if (!places) return std::nullopt;
  Variables part;
  for (std::size_t at : *places) part.push_back(elements[at]);
  return one(fit(make_vector(part, made->dtype), node.output()));
}

// ---- updates --------------------------------------------------------------------------------------------------------

bool is_zero(const Variable& v) {
  if (scalar_constant(v) == 0.0) return true;
  return op_as<Alloc>(v) && scalar_constant(v.owner().input(0)) == 0.0;
}

// inc by 0 is x; setting the whole is the new value.
std::optional<Variables> useless_update(FunctionGraph&, const Apply& node) {
  const auto& op = *op_as<IncSubtensor>(node.output());
  const Variable &x = node.input(0), &y = node.input(1);
  if (!op.set && is_zero(y)) return one(x);
  std::vector<DimBounds> dims = bounds_of(op.pattern, node, 2);
  for (std::size_t axis = 0; axis < dims.size(); ++axis) drop_useless_bounds(dims[axis], x, int(axis));
  const bool whole = std::all_of(dims.begin(), dims.end(),
                                 [](auto& dim) { return !dim.integer && !dim.start && !dim.stop && !dim.step; });
  if (!whole || y.dtype() != x.dtype()) return std::nullopt;
  return one(fit(op.set ? y : x + y, node.output()));
}

bool is_increment(const Variable& v) {
  if (const auto* op = op_as<IncSubtensor>(v)) return !op->set;
  const auto* op = op_as<AdvancedIncSubtensor>(v);
  return op && !op->set;
}

// x + zeros[i].inc(y) is x[i].inc(y): gradients of indexing add up in place.
std::optional<Variables> add_of_sparse_update(FunctionGraph& graph, const Apply& node) {
  const Variable output = node.output();
  for (int i = 0; i < 2; ++i) {
    const Variable &update = node.input(i), &x = node.input(1 - i);
    if (!is_increment(update) || !is_zero(update.owner().input(0)) || graph.clients(update).size() != 1) continue;
    if (x.dtype() != output.dtype() || update.dtype() != output.dtype() || !same_broadcast(x, output) ||
        !same_broadcast(update, output))
      continue;
    Variables inputs = update.owner().inputs();
    inputs[0] = x;
    return one(fit(update.owner().op()(inputs), output));
  }
  return std::nullopt;
}

// Reading back what was just written: x[i].set(y)[i].
std::optional<Variables> read_of_write(FunctionGraph&, const Apply& node) {
  const auto* write = op_as<IncSubtensor>(node.input(0));
  if (!write || !write->set || !(write->pattern.dims() == pattern_of(node).dims())) return std::nullopt;
  const Apply written = node.input(0).owner();
  for (std::size_t i = 1; i < node.inputs().size(); ++i)
    if (!node.inputs()[i].same_as(written.inputs()[i + 1])) return std::nullopt;
  if (written.input(1).dtype() != node.output().dtype()) return std::nullopt;
  return one(fit(written.input(1), node.output()));
}

// ---- join -----------------------------------------------------------------------------------------------------------

std::optional<Variables> useless_join(FunctionGraph&, const Apply& node) {
  const int axis = op_as<Join>(node.output())->axis;
  Variables parts;
  for (auto& part : node.inputs())
    if (part.static_shape()[std::size_t(axis)] != 0) parts.push_back(part);
  if (parts.size() == node.inputs().size() && parts.size() != 1) return std::nullopt;
  if (parts.empty()) return std::nullopt;
  return one(fit(join(axis, parts), node.output()));
}

void declare(Rules& rules) {
  auto number = [] { return sample_leaf(DType::Float64, {}); };
  auto index = [] { return int64_constant(1); };
  const Root root = Root::op({"Subtensor"});
  rules.function("useless_slices", root, useless_slices)
      .doc("Bounds that a slice has anyway.")
      .tags(useless, canonicalize, stabilize, specialize, "local_useless_slice", "local_useless_subtensor")
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
  rules.function("subtensor_of_subtensor", root, subtensor_of_subtensor)
      .doc("x[i][j] is x[i, j].")
      .tags(canonicalize, specialize, "local_subtensor_merge_integer")
      .sample([=] {
        return subtensor(subtensor(sample_matrix(), {IndexItem(1)}), {Slice{1, {}, {}}});
      });
  rules.function("subtensor_of_make_vector", root, subtensor_of_make_vector)
      .doc("An element of a vector made of scalars is that scalar.")
      .tags(useless, canonicalize, specialize, "local_subtensor_make_vector")
      .sample([=] {
        return exp((*make_ref<Subtensor>(IndexPattern({DimIndex{true, false, false, false}})))(
            {make_vector({number(), number()}), index()}));
      })
      .sample([=] {
        return subtensor(make_vector({number(), number(), number()}), {Slice{-2, {}, {}}});
      });
  rules.function("subtensor_of_write", root, read_of_write)
      .doc("Reading what was just written at the same place.")
      .tags(canonicalize, specialize, shape_unsafe, "local_read_of_write_same_indices")
      .sample([=] {
        const Variable i = sample_leaf(DType::Int64, {});
        return exp(subtensor(set_subtensor(sample_vector(), {IndexItem(i - i + 1)}, number()), {IndexItem(i - i + 1)}));
      });
  rules.function("useless_update", Root::op({"IncSubtensor"}), useless_update)
      .doc("Adding nothing, or writing everything.")
      .tags(canonicalize, specialize, "local_useless_inc_subtensor", "local_incsubtensor_of_zeros")
      .sample([] {
        return exp(set_subtensor(sample_vector(), {Slice{0, {}, {}}}, sample_vector()));
      })
      .sample([] {
        return exp(inc_subtensor(sample_vector(), {Slice{1, {}, {}}}, 0.0));
      });
  rules.function("add_of_sparse_update", Root::scalar({"add"}), add_of_sparse_update)
      .doc("Adding an array that is zero but for an update is doing the update.")
      .tags(canonicalize, stabilize, specialize, "local_add_of_sparse_write")
      .sample([] {
        const Variable x = sample_vector();
        return x + inc_subtensor(alloc(constant(Array(0.0)), {shape_i(x, 0)}), {Slice{1, {}, {}}}, 2.5);
      });
  rules.function("useless_join", Root::op({"Join"}), useless_join)
      .doc("A join of one tensor, and empty parts of a join.")
      .tags(useless, canonicalize, specialize, "local_join_1", "local_join_empty")
      .sample([] {
        return join(0, {sample_vector(), sample_leaf(DType::Float64, {0})});
      });
}

const RegisterRules registered("subtensor", declare);

}  // namespace

}  // namespace bitale::rewriting
