// The known shape of a variable was inferred from everything that it depends on: a change therefore invalidates the
// shapes of its transitive readers, and the traversal of readers can stop where no shape is known.
#include "bitale/ops/shape_feature.hpp"

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "graph/walk.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale {

Variables ShapeFeature::shape_of(const FunctionGraph& graph, const Variable& v) {
  if (!v.defined() || !graph.contains(v))
    throw ValueError(cat("shape feature: `", v.defined() ? v.str() : std::string("null"), "` is not in the graph"));
  v.tensor();
  if (v.has_owner()) infer(v);
  return lengths(v);
}

// Nothing is kept for leaves: a constant may leave the graph unnoticed.
Variables ShapeFeature::lengths(const Variable& v) const {
  if (!as_tensor(v.type())) return {};
  return v.has_owner() ? known_.at(v.node()) : lengths_of(v);
}

Variable ShapeFeature::get_shape(const FunctionGraph& graph, const Variable& v, int axis) {
  const Variables lengths = shape_of(graph, v);
  const int ndim = int(lengths.size()), at = axis < 0 ? axis + ndim : axis;
  if (at < 0 || at >= ndim)
    throw IndexError(cat("shape feature: dimension ", axis, " of `", v.str(), "`, which has ", ndim));
  return lengths[std::size_t(at)];
}

bool ShapeFeature::same_shape(const FunctionGraph& graph, const Variable& x, const Variable& y,
                              std::optional<int> axis_x, std::optional<int> axis_y) {
  if (axis_x.has_value() != axis_y.has_value())
    throw ValueError("shape feature: same_shape takes a dimension of both variables, or of none");
  Variables a = shape_of(graph, x), b = shape_of(graph, y);
  if (axis_x) {
    a = {get_shape(graph, x, *axis_x)};
    b = {get_shape(graph, y, *axis_y)};
  }
  return a.size() == b.size() && equal_computations(a, b);
}

void ShapeFeature::infer(const Variable& v) {
  if (known_.contains(v.node())) return;
  std::vector<ApplyNode*> order;
  visit_nodes(
      {&v, 1}, [&](const VariableNode* node) { return known_.contains(node); },
      [&](ApplyNode* node) { order.push_back(node); });
  for (ApplyNode* node : order) infer_node(node);
}

void ShapeFeature::infer_node(ApplyNode* pointer) {
  const Apply node = Apply::of(pointer);
  std::vector<Shape> inputs;
  for (auto& input : node.inputs()) inputs.push_back(lengths(input));
  const std::vector<Shape> inferred = node.op().infer_shape(node, inputs);
  for (std::size_t k = 0; k < node.output_count(); ++k) {
    const Variable output = node.output(int(k));
    if (!as_tensor(output.type())) continue;
    Shape lengths = inferred.empty() ? lengths_of(output) : inferred[k];
    for (int axis = 0; axis < output.ndim(); ++axis)
      if (output.static_shape()[std::size_t(axis)] != unknown_length)
        lengths[std::size_t(axis)] = length_of(output, axis);
    known_[output.node()] = std::move(lengths);
  }
}

void ShapeFeature::on_detach(FunctionGraph&) { known_.clear(); }

void ShapeFeature::on_prune(FunctionGraph&, const Apply& node, std::string_view) {
  for (auto& output : node.outputs()) known_.erase(output.node());
}

void ShapeFeature::on_change_input(FunctionGraph& graph, const Client& client, const Variable&, const Variable&,
                                   std::string_view) {
  if (!client.node) return;
  std::vector<ApplyNode*> waiting{client.node};
  while (!waiting.empty()) {
    ApplyNode* node = waiting.back();
    waiting.pop_back();
    for (std::size_t k = 0; k < node->output_count; ++k) {
      if (!known_.erase(&node->outputs[k])) continue;
      for (const Client& reader : graph.clients(Variable::of(&node->outputs[k])))
        if (reader.node) waiting.push_back(reader.node);
    }
  }
}

}  // namespace bitale
