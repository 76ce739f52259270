#include "ops/control/guarded.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "bitale/graph/traversal.hpp"
#include "graph/lazy.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/elementwise/scalar_op.hpp"
#include "ops/indexing/subtensor.hpp"
#include "ops/reductions/reduce.hpp"
#include "ops/shapes/dimshuffle.hpp"
#include "ops/shapes/shape.hpp"

namespace bitale {

namespace {

// Whether operands that are not repeated along an axis are known to have the same length there.
bool have_equal_lengths(const Apply& node) {
  for (int axis = 0; axis < node.output().ndim(); ++axis) {
    const Variable* first = nullptr;
    for (auto& input : node.inputs()) {
      if (input.tensor().broadcasts(axis)) continue;
      if (!first)
        first = &input;
      else if (!is_same_length(length_of(*first, axis), length_of(input, axis)))
        return false;
    }
  }
  return true;
}

bool has_identity_or_elements(const Apply& node, const CAReduce& op) {
  if (op.kind.has_identity) return true;
  const Dims& shape = node.input(0).static_shape();
  for (int axis = 0; axis < int(shape.size()); ++axis)
    if (op.reduces(axis) && shape[std::size_t(axis)] < 1) return false;
  return true;
}

bool has_only_slices(const Subtensor& op) {
  return std::ranges::none_of(op.pattern.dims(), [](auto& dim) { return dim.integer || dim.step; });
}

bool drops_known_ones(const Apply& node, const DimShuffle& op) {
  return std::ranges::all_of(op.dropped(), [&](int axis) { return node.input(0).tensor().broadcasts(axis); });
}

}  // namespace

bool is_total(const Apply& node) {
  const Op& op = node.op();
  if (op.elementwise()) return have_equal_lengths(node);
  if (lazy_inputs(node) || dynamic_cast<const ShapeI*>(&op) || dynamic_cast<const ShapeOp*>(&op)) return true;
  if (auto* shuffle = dynamic_cast<const DimShuffle*>(&op)) return drops_known_ones(node, *shuffle);
  if (auto* reduce = dynamic_cast<const CAReduce*>(&op)) return has_identity_or_elements(node, *reduce);
  if (auto* index = dynamic_cast<const Subtensor*>(&op)) return has_only_slices(*index);
  return false;
}

namespace {

// The choices that count.
using Choice = std::function<const LazyInputs*(const Apply&)>;

// All variables, and the nodes that compute them, that are needed whatever is chosen.
PointerSet needed_by(std::span<const Variable> outputs, const std::vector<Apply>& order, const Choice& choice) {
  PointerSet out;
  const auto need = [&](const Variable& v) {
    out.insert(v.node());
    if (v.has_owner()) out.insert(v.owner().node());
  };
  for (auto& output : outputs) need(output);
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    if (!out.contains(node->node())) continue;
    if (const LazyInputs* lazy = choice(*node))
      for (int input : needed_first(*node, *lazy)) need(node->input(input));
    else
      for (auto& input : node->inputs()) need(input);
  }
  return out;
}

PointerSet guarded_by(std::span<const Variable> outputs, const std::vector<Apply>& order, const Choice& choice) {
  PointerSet out;
  if (std::ranges::none_of(order, choice)) return out;
  const PointerSet needed = needed_by(outputs, order, choice);
  for (auto& node : order) {
    if (needed.contains(node.node())) continue;
    const bool reads_guarded = std::ranges::any_of(node.inputs(), [&](auto& v) { return out.contains(v.node()); });
    if (!reads_guarded && is_total(node)) continue;
    for (auto& output : node.outputs()) out.insert(output.node());
  }
  return out;
}

// The choices that depend on the leaves.
Choice choices_by(const Variables& leaves, const std::vector<Apply>& order) {
  PointerSet depend;
  for (const Variable& leaf : leaves) depend.insert(leaf.node());
  for (const Apply& node : order)
    if (std::ranges::any_of(node.inputs(), [&](const Variable& v) { return depend.contains(v.node()); }))
      for (const Variable& output : node.outputs()) depend.insert(output.node());
  return [depend](const Apply& node) { return depend.contains(node.output(0).node()) ? lazy_inputs(node) : nullptr; };
}

}  // namespace

PointerSet guarded_values(std::span<const Variable> outputs) {
  return guarded_by(outputs, toposort(outputs), lazy_inputs);
}

PointerSet guarded_values(std::span<const Variable> outputs, const Variables& leaves, const std::vector<Apply>& order) {
  if (std::ranges::none_of(order, lazy_inputs)) return {};
  return guarded_by(outputs, order, choices_by(leaves, order));
}

PointerSet needed_values(std::span<const Variable> outputs, const Variables& leaves) {
  const std::vector<Apply> order = toposort(outputs, VariableSet(leaves.begin(), leaves.end()));
  return needed_by(outputs, order, choices_by(leaves, order));
}

bool is_always_needed(const FunctionGraph& graph, const Variable& variable) {
  PointerSet seen;
  Variables waiting{variable};
  while (!waiting.empty()) {
    const Variable v = waiting.back();
    waiting.pop_back();
    if (!seen.insert(v.node())) continue;
    for (auto& client : graph.clients(v)) {
      if (!client.node) return true;
      const Apply node = Apply::of(client.node);
      if (const LazyInputs* lazy = lazy_inputs(node)) {
        const std::vector<int> first = needed_first(node, *lazy);
        if (std::ranges::find(first, int(client.index)) == first.end()) continue;
      }
      for (auto& output : node.outputs()) waiting.push_back(output);
    }
  }
  return false;
}

}  // namespace bitale
