#include "autodiff/agreement.hpp"

#include <algorithm>

#include "bitale/graph/inner_graph.hpp"
#include "bitale/graph/traversal.hpp"
#include "graph/pointer_map.hpp"

namespace bitale {

namespace {

bool has_derivatives(const Variable& v) { return as_tensor(v.type()) && is_continuous(v.dtype()); }

bool agree(std::span<const Variable> outputs, const Variables& wrt, const PointerSet& constants);

// Inner graphs may be nested to a limited depth only (InnerGraph::max_depth).
bool agrees(const Op& op) {
  if (!op.has_pushforward() || !op.has_linear_pullback()) return false;
  const auto* with_graph = op.elementwise() ? nullptr : dynamic_cast<const HasInnerGraph*>(&op);
  if (!with_graph) return true;
  if (!with_graph->has_derivatives_of_graph()) return false;
  const InnerGraph& graph = *with_graph->inner_graph();
  return agree(graph.outputs(), graph.inputs(), {});
}

bool agree(std::span<const Variable> outputs, const Variables& wrt, const PointerSet& constants) {
  PointerSet reached;
  const auto reach = [&](const Variable& v) {
    if (has_derivatives(v) && !constants.contains(v.node())) reached.insert(v.node());
  };
  for (const Variable& v : wrt) reach(v);
  for (const Apply& node : toposort(outputs)) {
    const auto is_reached = [&](const Variable& v) { return reached.contains(v.node()); };
    if (std::ranges::none_of(node.inputs(), is_reached)) continue;
    const auto pattern = node.op().connection_pattern(node);
    bool passes = false;
    for (std::size_t o = 0; o < node.output_count(); ++o) {
      const Variable output = node.output(int(o));
      bool connected = false;
      for (std::size_t i = 0; i < pattern.size(); ++i) connected |= pattern[i][o] && is_reached(node.inputs()[i]);
      if (connected) reach(output);
      passes |= connected && is_reached(output);
    }
    if (passes && !agrees(node.op())) return false;
  }
  return true;
}

}  // namespace

bool derivatives_agree(const Variable& expression, const Variables& wrt, const Variables& constants) {
  PointerSet stops;
  for (const Variable& v : constants) stops.insert(v.node());
  return agree({&expression, 1}, wrt, stops);
}

}  // namespace bitale
