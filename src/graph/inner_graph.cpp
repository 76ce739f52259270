#include "bitale/graph/inner_graph.hpp"

#include <algorithm>
#include <functional>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/test_value.hpp"
#include "bitale/graph/traversal.hpp"
#include "graph/copy.hpp"
#include "graph/expression_hash.hpp"
#include "graph/hash.hpp"
#include "graph/walk.hpp"

namespace bitale {

namespace {

template <class E>
[[noreturn]] void fail_at(E error, const Variable& variable) {
  if (const Location where = variable.where()) error.add("built at", where.str_with_callers());
  throw error;
}

void check_inputs(std::span<const Variable> inputs, std::string_view who) {
  VariableSet seen;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) throw ValueError(cat(who, ": input ", i, " is null"));
    if (inputs[i].is_constant())
      fail_at(TypeError(cat(who, ": input ", i, " is the constant `", inputs[i].str(),
                            "`; a constant needs no input, it becomes part of the inner graph")),
              inputs[i]);
    if (!seen.insert(inputs[i]).second)
      fail_at(ValueError(cat(who, ": input ", i, ", `", inputs[i].str(), "`, is among the inputs twice")), inputs[i]);
  }
}

[[noreturn]] void refuse_leaf(const Variable& leaf, std::span<const Variable> outputs, const VariableSet& given,
                              std::string_view who) {
  const bool is_shared = bool(leaf.node()->leaf);
  MissingInputError error(cat(who, ": the outputs depend on ", is_shared ? "the shared variable `" : "`", leaf.str(),
                              "` of type ", leaf.type()->str(),
                              ", which is not among the inputs of the inner graph; add it to the inputs, and pass ",
                              is_shared ? "the shared variable" : "its value", " when the op is applied"));
  for (const Apply& node : toposort(outputs, given)) {
    const auto is_leaf = [&](const Variable& input) { return input.same_as(leaf); };
    if (std::none_of(node.inputs().begin(), node.inputs().end(), is_leaf)) continue;
    const Location where = node.provenance().where;
    error.add("used by", where ? cat(node.op().label(), ", built at ", where.str_with_callers()) : node.op().label());
    break;
  }
  fail_at(error, leaf);
}

std::size_t hash_of_type(const Type& type) {
  const TensorType* tensor = as_tensor(type);
  if (!tensor) return std::hash<std::string>{}(type->str());
  std::size_t seed = hash_mix(std::size_t(tensor->dtype), tensor->shape.size());
  for (auto length : tensor->shape) seed = hash_mix(seed, std::size_t(length));
  return seed;
}

std::size_t hash_of_graph(const Variables& inputs, const Variables& outputs) {
  ExpressionHash hash_of;
  std::size_t seed = hash_mix(inputs.size(), outputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    hash_of.set_leaf(inputs[i], hash_mix(i, 1));
    seed = hash_mix(seed, hash_of_type(inputs[i].type()));
  }
  for (auto& output : outputs) seed = hash_mix(seed, hash_of(output));
  return seed;
}

}  // namespace

InnerGraph::InnerGraph(std::span<const Variable> inputs, std::span<const Variable> outputs, std::string_view who) {
  check_inputs(inputs, who);
  if (outputs.empty()) throw ValueError(cat(who, ": expected at least one output"));
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (!outputs[k].defined()) throw ValueError(cat(who, ": output ", k, " is null"));
  const VariableSet given(inputs.begin(), inputs.end());
  for (auto& leaf : graph_inputs(outputs, given))
    if (!given.contains(leaf)) refuse_leaf(leaf, outputs, given, who);

  CopyMemo memo;
  for (auto& input : inputs) {
    Variable leaf(input.type(), input.name());
    leaf.node()->where = input.where();
    if (input.node()->tag) leaf.node()->tag = make_ref<Tag>(*input.node()->tag);
    memo.insert(input, leaf);
    inputs_.push_back(leaf);
  }
  outputs_ = copy_graph(outputs, memo);
  visit_nodes(outputs_, NoBlockers(), [&](ApplyNode* node) {
    ++node_count_;
    if (const InnerGraph* inner = node->op->elementwise() ? nullptr : inner_graph_of(*node->op))
      depth_ = std::max(depth_, 1 + inner->depth());
  });
  if (depth_ > max_depth)
    throw ValueError(cat(who, ": inner graphs are nested ", depth_, " deep, more than ", max_depth,
                         "; apply some of the ops' definitions directly instead of nesting them"));
  hash_ = hash_of_graph(inputs_, outputs_);
}

Variables InnerGraph::applied_to(std::span<const Variable> arguments) const {
  if (arguments.size() != inputs_.size())
    throw InternalError(cat("inner graph: ", arguments.size(), " arguments for ", inputs_.size(), " inputs"));
  Replacements replacements;
  for (std::size_t i = 0; i < inputs_.size(); ++i) replacements.emplace_back(inputs_[i], arguments[i]);
  return clone_replace(outputs_, replacements);
}

bool InnerGraph::equals(const Opaque& other) const {
  if (this == &other) return true;
  auto* graph = dynamic_cast<const InnerGraph*>(&other);
  return graph && hash_ == graph->hash_ && inputs_.size() == graph->inputs_.size() &&
         outputs_.size() == graph->outputs_.size() &&
         equal_computations(outputs_, graph->outputs_, inputs_, graph->inputs_);
}

std::string InnerGraph::text() const {
  return cat("graph(", count_text(std::int64_t(inputs_.size()), "input"), ", ",
             count_text(std::int64_t(node_count_), "node"), ", ", count_text(std::int64_t(outputs_.size()), "output"),
             ")");
}

bool have_linear_pullbacks(const InnerGraph& graph) {
  return std::ranges::all_of(toposort(graph.outputs()),
                             [](const Apply& node) { return node.op().has_linear_pullback(); });
}

void HasInnerGraph::perform_by(const Apply&, std::span<const Array> in, std::span<Array> out,
                               const Evaluate& evaluate) const {
  std::vector<Array> results = evaluate(in);
  std::move(results.begin(), results.end(), out.begin());
}

const InnerGraph* inner_graph_of(const Op& op) {
  auto* has = dynamic_cast<const HasInnerGraph*>(&op);
  return has ? has->inner_graph().get() : nullptr;
}

}  // namespace bitale
