#include "link/inner_choices.hpp"

#include <unordered_map>

#include "bitale/graph/inner_graph.hpp"

namespace bitale::link {

namespace {

bool has_inner_graph(const Apply& node) {
  return node.defined() && !node.op().elementwise() && inner_graph_of(node.op());
}

// The graph with nodes that have choices within in place of others; the graph itself where there are none.
class InnerChoices {
 public:
  InnerChoices(const LinkBranch& link, std::int64_t& budget) : link_(link), budget_(budget) {}

  OutlinedBranches outline(const LinkedGraph& graph) {
    std::vector<std::pair<Apply, OpRef>> found;
    for (std::size_t slot = 0; slot < graph->slot_count(); ++slot)
      if (const Apply node = graph->at_slot(slot); has_inner_graph(node))
        if (const OpRef op = outlined_op(node.op_ref()); op != node.op_ref()) found.emplace_back(node, op);
    if (found.empty()) return {graph, {}};
    const auto copy = std::make_shared<FunctionGraph>(graph->clone());
    const VariableMap originals = copy->originals();
    NodeMap replaced;
    // In topological order, one at a time, because a node is created with the inputs that the old one has at that
    // moment.
    for (const Apply& node : copy->toposort()) {
      if (!has_inner_graph(node)) continue;
      const OpRef op = outlined_op(node.op_ref());
      if (op == node.op_ref()) continue;
      std::vector<Type> types;
      for (auto& output : node.outputs()) types.push_back(output.type());
      const Apply better(op, node.inputs(), types);
      better.node()->provenance = node.provenance();
      Replacements replacements;
      for (int k = 0; k < int(node.output_count()); ++k) replacements.emplace_back(node.output(k), better.output(k));
      copy->replace_all(replacements, "inner_choices");
      kept_.push_back(node);
      kept_.push_back(better);
      replaced[node.node()] = better.node();
    }
    return outlined(copy, originals, replaced);
  }

 private:
  OpRef outlined_op(const OpRef& op) {
    OpRef& out = ops_[op.get()];
    if (out) return out;
    const auto& has = dynamic_cast<const HasInnerGraph&>(*op);
    const InnerGraph& inner = *has.inner_graph();
    const LinkedGraph own = std::make_shared<FunctionGraph>(inner.inputs(), inner.outputs());
    const LinkedGraph graph = outline_branches(outline(own).graph, link_, budget_, 0, Divided::guarded).graph;
    const OpRef made =
        graph == own ? op : has.with_inner_graph(make_ref<InnerGraph>(graph->inputs(), graph->outputs()));
    return ops_[op.get()] = made;
  }

  const LinkBranch& link_;
  std::int64_t& budget_;
  std::unordered_map<const Op*, OpRef> ops_;
  std::vector<Apply> kept_;  // replaced nodes, kept alive so that their addresses are not reused
};

}  // namespace

OutlinedBranches outline_inner_choices(const LinkedGraph& graph, const LinkBranch& link, std::int64_t& budget) {
  return InnerChoices(link, budget).outline(graph);
}

}  // namespace bitale::link
