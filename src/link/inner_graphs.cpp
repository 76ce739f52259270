#include "link/inner_graphs.hpp"

#include <algorithm>
#include <cstdint>

#include "bitale/core/error.hpp"
#include "bitale/graph/inner_graph.hpp"
#include "link/part.hpp"

namespace bitale::link {

namespace {

// Stands for a node with an inner graph, and runs it with linked code.
class InnerCall final : public OpOf<InnerCall> {
 public:
  InnerCall(OpRef op, std::unique_ptr<Thunk> thunk)
      : op(std::move(op)), thunk(std::move(thunk)), number(std::int64_t(reinterpret_cast<std::intptr_t>(this))) {}

  const OpRef op;
  const std::unique_ptr<Thunk> thunk;
  const std::int64_t number;  // a unique value: no two ops compare equal
  static constexpr auto fields = attribute_list(attribute("number", &InnerCall::number));

  std::string_view name() const override { return "InnerCall"; }
  ComplexForm complex_form() const override { return ComplexForm::own; }
  std::string label() const override { return op->label(); }
  // Nodes are created only by outline_inner_graphs.
  Apply make_node(std::span<const Variable>) const override {
    throw InternalError("InnerCall: a node can't be created from other inputs");
  }
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override {
    return op->infer_shape(node, inputs);
  }
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override {
    dynamic_cast<const HasInnerGraph&>(*op).perform_by(node, in, out,
                                                       [&](std::span<const Array> given) { return thunk->run(given); });
  }
};

}  // namespace

bool is_inner_call(const Op& op) { return dynamic_cast<const InnerCall*>(&op) != nullptr; }

OutlinedBranches outline_inner_graphs(const LinkedGraph& graph, const LinkBranch& link) {
  const auto has_inner_graph = [](const Apply& node) {
    return node.defined() && !node.op().elementwise() && inner_graph_of(node.op());
  };
  bool any = false;
  for (std::size_t slot = 0; slot < graph->slot_count() && !any; ++slot) any = has_inner_graph(graph->at_slot(slot));
  if (!any) return {graph, {}};
  const auto copy = std::make_shared<FunctionGraph>(graph->clone());
  const VariableMap originals = copy->originals();
  std::vector<OpRef> calls;
  NodeMap replaced;
  std::vector<Apply> kept;  // replaced nodes, kept alive so that their addresses are not reused
  // In topological order, one at a time, because a call is created with the inputs that the node has at that moment.
  for (const Apply& node : copy->toposort()) {
    if (!has_inner_graph(node) || is_native(node)) continue;
    const auto is_same = [&](auto& call) { return static_cast<const InnerCall&>(*call).op->equals(node.op()); };
    auto found = std::find_if(calls.begin(), calls.end(), is_same);
    if (found == calls.end()) {
      const InnerGraph& inner = *inner_graph_of(node.op());
      const auto own = std::make_shared<FunctionGraph>(inner.inputs(), inner.outputs());
      calls.push_back(make_ref<InnerCall>(node.op_ref(), link(own)));
      found = std::prev(calls.end());
    }
    std::vector<Type> types;
    for (auto& output : node.outputs()) types.push_back(output.type());
    const Apply call(*found, node.inputs(), types);
    call.node()->provenance = node.provenance();
    Replacements replacements;
    for (int k = 0; k < int(node.output_count()); ++k) replacements.emplace_back(node.output(k), call.output(k));
    copy->replace_all(replacements, "inner_graphs");
    kept.push_back(node);
    kept.push_back(call);
    replaced[node.node()] = call.node();
  }
  return outlined(copy, originals, replaced);
}

}  // namespace bitale::link
