#include "ops/control/inner_graph_queries.hpp"

#include <optional>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/test_value.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/pointer_map.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/shapes/shape.hpp"

namespace bitale {

// Calls infer_shape of the graph's ops in topological order, on leaves that stand for the inputs' lengths. A length
// that depends on the length of a computed value would compute that value twice: then there is no result.
InnerLengths inner_lengths(const InnerGraph& graph) {
  const TestValuesOff none_are_known;
  InnerLengths out;
  PointerMap<Shape> shapes;
  VariableSet asked;  // lengths of computed values
  const auto shape_of = [&](const Variable& v) -> const Shape& {
    auto [shape, is_new] = shapes.insert(v.node());
    if (is_new && as_tensor(v.type())) {
      *shape = lengths_of(v);
      if (v.has_owner())
        for (auto& length : *shape)
          if (!length.is_constant()) asked.insert(length);
    }
    return *shape;
  };
  for (auto& input : graph.inputs()) {
    Shape shape;
    if (as_tensor(input.type()))
      for (auto length : input.static_shape())
        shape.push_back(length == unknown_length ? Variable(tensor_type(DType::Int64, 0)) : int64_constant(length));
    out.inputs.push_back(shape);
    shapes.insert(input.node(), shape);
  }
  // Lengths that the graph itself requests (ShapeI) are replaced by these as well.
  Replacements requested_lengths;
  for (const Apply& each : toposort(graph.outputs())) {
    if (const auto* of = dynamic_cast<const ShapeI*>(&each.op())) {
      const Variable& length = shape_of(each.input(0))[std::size_t(of->i)];
      const bool is_leaf = length.is_constant() || !length.has_owner();
      requested_lengths.emplace_back(each.output(),
                                     is_leaf ? length : clone_replace(Variables{length}, requested_lengths)[0]);
    }
    std::vector<Shape> of_inputs;
    for (auto& input : each.inputs()) of_inputs.push_back(shape_of(input));
    const std::vector<Shape> answer = each.op().infer_shape(each, of_inputs);
    for (std::size_t k = 0; k < answer.size(); ++k) shapes.insert(each.output(int(k)).node(), answer[k]);
  }
  Variables all;
  for (auto& output : graph.outputs()) {
    out.outputs.push_back(shape_of(output));
    all.insert(all.end(), out.outputs.back().begin(), out.outputs.back().end());
  }
  all = clone_replace(all, requested_lengths);
  auto length = all.begin();
  for (auto& shape : out.outputs)
    for (auto& each : shape) each = *length++;
  for (auto& each : ancestors(all))
    if (asked.contains(each)) {
      out.outputs.clear();
      break;
    }
  return out;
}

std::vector<Shape> applied_lengths(const InnerGraph& graph, const InnerLengths& lengths,
                                   std::span<const Variable> arguments, std::span<const Shape> shapes) {
  if (lengths.outputs.empty()) return {};
  Replacements replacements;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    replacements.emplace_back(graph.inputs()[i], arguments[i]);
    for (std::size_t axis = 0; axis < lengths.inputs[i].size(); ++axis)
      if (const Variable& leaf = lengths.inputs[i][axis]; !leaf.is_constant())
        replacements.emplace_back(leaf, shapes[i][axis]);
  }
  std::vector<Shape> out;
  Variables all;
  for (auto& shape : lengths.outputs) all.insert(all.end(), shape.begin(), shape.end());
  all = clone_replace(all, replacements);
  auto at = all.begin();
  for (auto& shape : lengths.outputs) {
    out.emplace_back(at, at + std::ptrdiff_t(shape.size()));
    at += std::ptrdiff_t(shape.size());
  }
  return out;
}

std::vector<std::vector<bool>> inner_connections(const InnerGraph& graph) {
  const Variables &inputs = graph.inputs(), &outputs = graph.outputs();
  std::vector<std::vector<bool>> out(inputs.size(), std::vector<bool>(outputs.size(), false));
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    PointerSet seen;
    Variables left;
    const auto reach = [&](const Variable& v) {
      if (seen.insert(v.node())) left.push_back(v);
    };
    reach(outputs[k]);
    while (!left.empty()) {
      const Variable v = left.back();
      left.pop_back();
      if (!v.has_owner()) continue;
      const Apply node = v.owner();
      const auto pattern = node.op().connection_pattern(node);
      for (std::size_t i = 0; i < pattern.size(); ++i)
        if (pattern[i][std::size_t(v.index())]) reach(node.inputs()[i]);
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) out[i][k] = seen.contains(inputs[i].node());
  }
  return out;
}

Variable filtered(const Variable& x, const Type& like, const std::string& what) {
  const auto refuse = [&](std::string_view other) {
    TypeError error(cat(what, ", `", x.str(), "`, has ", other, ": expected ", like->str(), ", got ", x.type()->str()));
    if (const Location where = x.where()) error.add("built at", where.str_with_callers());
    throw error;
  };
  if (like->is_super(*x.type())) return x;
  if (!as_tensor(x.type()) || !as_tensor(like)) refuse("another type");
  const TensorType &type = *as_tensor(like), &given = x.tensor();
  if (given.ndim() != type.ndim()) refuse("another number of dimensions");
  for (int axis = 0; axis < type.ndim(); ++axis) {
    const auto a = type.shape[std::size_t(axis)], b = given.shape[std::size_t(axis)];
    if (a != unknown_length && b != unknown_length && a != b) refuse(cat("another length of dimension ", axis));
  }
  Variable out = x;
  if (given.dtype != type.dtype) {
    if (!x.is_constant()) refuse("another dtype (cast converts it)");
    try {
      out = constant(filter(type, *x.constant()));
    } catch (const TypeError&) {
      refuse("another dtype (cast converts it)");
    }
  }
  std::vector<std::optional<Operand>> lengths;
  bool any = false;
  for (int axis = 0; axis < type.ndim(); ++axis) {
    lengths.emplace_back();
    const auto length = type.shape[std::size_t(axis)];
    if (length == unknown_length || out.static_shape()[std::size_t(axis)] == length) continue;
    lengths.back() = Operand(int64_constant(length));
    any = true;
  }
  return any ? specify_shape(out, lengths) : out;
}

}  // namespace bitale
