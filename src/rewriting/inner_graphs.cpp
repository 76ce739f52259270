#include "rewriting/inner_graphs.hpp"

#include <algorithm>
#include <unordered_map>

#include "bitale/graph/inner_graph.hpp"
#include "bitale/rewriting/rules.hpp"

namespace bitale::rewriting {

namespace {

void add(RewriteReport& to, const RewriteReport& from) {
  to.errors.insert(to.errors.end(), from.errors.begin(), from.errors.end());
  for (auto& rule : from.rules) {
    const auto is_same = [&](auto& other) { return other.name == rule.name && other.phase == rule.phase; };
    const auto found = std::find_if(to.rules.begin(), to.rules.end(), is_same);
    if (found == to.rules.end()) {
      to.rules.push_back(rule);
      continue;
    }
    found->hits += rule.hits;
    found->tried += rule.tried;
    found->seconds += rule.seconds;
  }
}

struct HashGraph {
  std::size_t operator()(const InnerGraphRef& graph) const { return graph->hash(); }
};
struct EqualGraphs {
  bool operator()(const InnerGraphRef& a, const InnerGraphRef& b) const { return a->equals(*b); }
};

}  // namespace

void replace_inner_graph(FunctionGraph& graph, const Apply& node, InnerGraphRef after) {
  std::vector<Type> types;
  for (auto& output : node.outputs()) types.push_back(output.type());
  const auto& has = dynamic_cast<const HasInnerGraph&>(node.op());
  const Apply better(has.with_inner_graph(std::move(after)), node.inputs(), types);
  better.node()->provenance = node.provenance();
  Replacements replacements;
  for (int k = 0; k < int(node.output_count()); ++k) replacements.emplace_back(node.output(k), better.output(k));
  graph.replace_all(replacements, "inner_graph");
}

void rewrite_inner_graphs(FunctionGraph& graph, const RewriteQuery& query, RewriteReport& report) {
  if (std::find(query.exclude.begin(), query.exclude.end(), structural) != query.exclude.end()) return;
  std::unordered_map<InnerGraphRef, InnerGraphRef, HashGraph, EqualGraphs> rewritten;
  // In topological order, one node at a time, since a new node takes the current inputs of the old one.
  std::vector<Apply> nodes;
  for (std::size_t slot = 0; slot < graph.slot_count(); ++slot)
    if (const Apply node = graph.at_slot(slot);
        node.defined() && !node.op().elementwise() && inner_graph_of(node.op())) {
      nodes = graph.toposort();
      break;
    }
  for (const Apply& node : nodes) {
    if (node.op().elementwise() || !graph.contains(node)) continue;
    auto* has = dynamic_cast<const HasInnerGraph*>(&node.op());
    if (!has) continue;
    InnerGraphRef& after = rewritten[has->inner_graph()];
    if (!after) {
      const InnerGraph& before = *has->inner_graph();
      FunctionGraph inner(before.inputs(), before.outputs());
      RewriteReport own;
      own.time_rules = report.time_rules;
      rewrite(inner, query.excluding({"inplace"}), &own);
      add(report, own);
      after = make_ref<InnerGraph>(inner.inputs(), inner.outputs());
    }
    if (!after->equals(*has->inner_graph())) replace_inner_graph(graph, node, after);
  }
}

}  // namespace bitale::rewriting
