// The base of features that track all nodes.
#include "bitale/graph/features.hpp"

namespace bitale {

void Bookkeeper::on_attach(FunctionGraph& graph) {
  for (auto& node : graph.toposort()) on_import(graph, node, "on_attach");
}

void Bookkeeper::on_detach(FunctionGraph& graph) {
  for (auto& node : graph.toposort()) on_prune(graph, node, "on_detach");
}

}  // namespace bitale
