// Joins: empty parts are removed, and adjacent parts that can be expressed as one are merged.
#include <algorithm>

#include "ops/analysis/lengths.hpp"
#include "ops/indexing/subtensor.hpp"
#include "ops/shapes/alloc.hpp"
#include "ops/shapes/join.hpp"
#include "ops/shapes/make_vector.hpp"
#include "rules/subtensor_bounds.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

int axis_of(const Apply& join) { return op_as<Join>(join.output())->axis; }

std::optional<Variables> useless_join(FunctionGraph&, const Apply& node) {
  const int axis = axis_of(node);
  Variables parts;
  for (auto& part : node.inputs())
    if (part.static_shape()[std::size_t(axis)] != 0) parts.push_back(part);
  if (parts.size() == node.inputs().size() && parts.size() != 1) return std::nullopt;
  if (parts.empty()) return std::nullopt;
  return one(fit(parts.size() == 1 ? parts[0] : join(axis, parts), node.output()));
}

// Replaces adjacent parts by the single part that `merge` finds for them, if any.
template <class Merge>
std::optional<Variables> merge_neighbours(const Apply& node, Merge merge) {
  Variables parts;
  for (auto& part : node.inputs()) {
    if (!parts.empty())
      if (const std::optional<Variable> both = merge(parts.back(), part)) {
        parts.back() = *both;
        continue;
      }
    parts.push_back(part);
  }
  if (parts.size() == node.inputs().size()) return std::nullopt;
  return one(fit(parts.size() == 1 ? parts[0] : join(axis_of(node), parts), node.output()));
}

std::optional<Variables> join_of_make_vector(FunctionGraph&, const Apply& node) {
  return merge_neighbours(node, [](const Variable& a, const Variable& b) -> std::optional<Variable> {
    const auto *first = op_as<MakeVector>(a), *second = op_as<MakeVector>(b);
    if (!first || !second || first->dtype != second->dtype) return std::nullopt;
    Variables elements = a.owner().inputs();
    const Apply others = b.owner();
    elements.insert(elements.end(), others.inputs().begin(), others.inputs().end());
    return make_vector(elements, first->dtype);
  });
}

// Whether a <= b as positions in an array of any length: both are known and counted from the same end.
bool in_order(const Variable& a, const Variable& b) {
  const auto first = known_integer(a), second = known_integer(b);
  return first && second && (*first < 0) == (*second < 0) && *first <= *second;
}

// [a:b] followed by [b:c] is [a:c].
std::optional<DimBounds> joint_slice(const DimBounds& a, const DimBounds& b, std::int64_t length) {
  if (a.integer || b.integer) return std::nullopt;
  const auto first = known_range(a, length), second = known_range(b, length);
  if (first && second) {
    if (first->step != 1 || second->step != 1 || first->count == 0 || second->count == 0) return std::nullopt;
    if (first->start + first->count != second->start) return std::nullopt;
    return slice_of({first->start, first->count + second->count, 1});
  }
  if (a.step.defined() || b.step.defined() || !a.stop.defined() || !b.start.defined()) return std::nullopt;
  const bool meet =
      a.stop.same_as(b.start) || (known_integer(a.stop) && known_integer(a.stop) == known_integer(b.start));
  if (!meet || (a.start.defined() && !in_order(a.start, a.stop)) || (b.stop.defined() && !in_order(b.start, b.stop)))
    return std::nullopt;
  return range(a.start, b.stop);
}

std::optional<Variables> join_of_slices(FunctionGraph&, const Apply& node) {
  const int axis = axis_of(node);
  return merge_neighbours(node, [&](const Variable& a, const Variable& b) -> std::optional<Variable> {
    if (!op_as<Subtensor>(a) || !op_as<Subtensor>(b)) return std::nullopt;
    const Variable x = a.owner().input(0);
    if (!x.same_as(b.owner().input(0))) return std::nullopt;
    Bounds bounds = bounds_of(a.owner());
    const Bounds other = bounds_of(b.owner());
    int kept = 0;
    for (std::size_t k = 0; k < bounds.size(); ++k) {
      if (!bounds[k].integer && !other[k].integer && kept++ == axis) {
        const auto both = joint_slice(bounds[k], other[k], x.static_shape()[k]);
        if (!both) return std::nullopt;
        bounds[k] = *both;
      } else if (!bounds[k].is_same(other[k])) {
        return std::nullopt;
      }
    }
    return part_of(x, bounds);
  });
}

std::optional<Variables> join_of_join(FunctionGraph& graph, const Apply& node) {
  const int axis = axis_of(node);
  Variables parts;
  for (auto& part : node.inputs()) {
    const auto* inner = op_as<Join>(part);
    if (inner && inner->axis == axis && graph.clients(part).size() == 1) {
      const Apply below = part.owner();
      parts.insert(parts.end(), below.inputs().begin(), below.inputs().end());
    } else {
      parts.push_back(part);
    }
  }
  if (parts.size() == node.inputs().size()) return std::nullopt;
  return one(fit(join(axis, parts), node.output()));
}

// Values that are all repeated along another dimension are joined before the repetition.
std::optional<Variables> join_of_alloc(FunctionGraph&, const Apply& node) {
  const int axis = axis_of(node), rank = node.output().ndim();
  std::vector<bool> repeated(std::size_t(rank), true);
  repeated[std::size_t(axis)] = false;
  Variables values;
  for (auto& part : node.inputs()) {
    if (!op_as<Alloc>(part)) return std::nullopt;
    values.push_back(padded(part.owner().input(0), rank));
    for (int k = 0; k < rank; ++k)
      if (!is_one(values.back(), k) || is_one(part, k)) repeated[std::size_t(k)] = false;
  }
  if (std::none_of(repeated.begin(), repeated.end(), [](bool is) { return is; })) return std::nullopt;
  Variables parts;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Variables lengths;
    const Apply part = node.input(int(i)).owner();
    for (int k = 0; k < rank; ++k) lengths.push_back(repeated[std::size_t(k)] ? int64_constant(1) : part.input(1 + k));
    parts.push_back(alloc(values[i], lengths));
  }
  const Variable joined = join(axis, parts);
  Variables lengths = lengths_of(joined);
  for (int k = 0; k < rank; ++k)
    if (repeated[std::size_t(k)]) lengths[std::size_t(k)] = node.input(0).owner().input(1 + k);
  return one(fit(alloc(joined, lengths), node.output()));
}

void declare_core_join(Rules& rules) {
  auto number = [] { return sample_leaf(DType::Float64, {}); };
  auto length = [] { return sample_leaf(DType::Int64, {}); };
  const Root root = Root::op({"Join"});
  rules.function("useless_join", root, useless_join)
      .doc("Removes empty parts of a join, and a join of a single tensor.")
      .tags(useless, canonicalize, specialize, "local_join_1", "local_join_empty")
      .sample([] {
        return join(0, {sample_vector(), sample_leaf(DType::Float64, {0})});
      });
  rules.function("join_of_make_vector", root, join_of_make_vector)
      .doc("Merges adjacent MakeVectors in a join into one.")
      .tags(useless, canonicalize, specialize, "local_join_make_vector")
      .sample([=] {
        return join(0, {make_vector({number(), number()}), make_vector({number()}), sample_vector()});
      });
  rules.function("join_of_slices", root, join_of_slices)
      .doc("Merges adjacent slices of the same tensor in a join into one: join(x[a:b], x[b:c]) becomes x[a:c].")
      .tags(specialize, "local_join_subtensors")
      .sample([=] {
        const Variable x = sample_vector(), n = length();
        return join(0, {subtensor(x, {Slice{{}, n, {}}}), subtensor(x, {Slice{n, {}, {}}})});
      })
      .sample([] {
        const Variable x = sample_matrix();
        return join(0, {subtensor(x, {IndexItem(1), Slice{0, 1, {}}}), subtensor(x, {IndexItem(1), Slice{1, 3, {}}})});
      })
      .sample([] {
        const Variable x = sample_leaf(DType::Float64, {7});
        return join(0, {subtensor(x, {Slice{1, -3, {}}}), subtensor(x, {Slice{4, {}, {}}})});
      });
  rules.function("join_of_join", root, join_of_join)
      .doc("Flattens nested joins along the same axis.")
      .tags(canonicalize)
      .sample([] {
        return join(0, {join(0, {sample_vector(), sample_vector()}), sample_vector()});
      });
  rules.function("join_of_alloc", root, join_of_alloc)
      .doc("Joins values before broadcasting them, where all are broadcast along the same other dimensions.")
      .tags(specialize, shape_unsafe, "local_join_of_alloc")
      .sample([=] {
        const Variable x = sample_vector(), y = sample_vector(), n = length();
        return join(1, {alloc(x, {n, shape_i(x, 0)}), alloc(y, {n, shape_i(y, 0)})});
      })
      .sample([=] {
        const Variable n = length();
        return join(0, {alloc(number(), {length(), n}), alloc(number(), {length(), n})});
      });
}

const RegisterRules register_core_join("core_join", declare_core_join);

}  // namespace

}  // namespace bitale::rewriting
