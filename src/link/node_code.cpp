#include "link/node_code.hpp"

#include <algorithm>

#include "graph/lazy.hpp"
#include "link/part.hpp"

namespace bitale::link {

namespace {

bool is_view(const Apply& node) {
  for (std::size_t k = 0; k < node.output_count(); ++k)
    if (node.op().view_of(node, int(k)).empty()) return false;
  return true;
}

// Whether its code does nothing but call perform.
bool is_called_back(const Thunk& thunk, const FunctionGraph& graph) {
  for (auto& node : graph.toposort())
    if (!thunk.note(node).empty()) return true;
  return false;
}

// Without a fallback: a missing compiler affects the whole graph and is reported once.
std::unique_ptr<Thunk> link_node(std::string_view linker, const LinkedGraph& graph, const LinkOptions& options) {
  if (linker == "c") return link_c(graph, options);
  return linker == "jit" || linker == "opwise" ? link_jit(graph, options) : link(linker, graph, options);
}

}  // namespace

NodeCode node_code(const Apply& node, std::string_view linker, const LinkOptions& options) {
  NodeCode code;
  const bool only_if_useful = linker == "opwise";
  if (linker == "vm" || lazy_inputs(node) || (only_if_useful && is_view(node))) return code;
  Variables inputs;
  for (std::size_t i = 0; i < node.inputs().size(); ++i) {
    const Variable& input = node.inputs()[i];
    const auto is_same = [&](const Variable& other) { return other.same_as(input); };
    if (input.is_constant() || std::any_of(inputs.begin(), inputs.end(), is_same)) continue;
    inputs.push_back(input);
    code.inputs.push_back(i);
  }
  const LinkedGraph graph = part_of_graph(inputs, node.outputs());
  code.thunk = link_node(linker, graph, options);
  if (only_if_useful && is_called_back(*code.thunk, *graph)) return {};
  return code;
}

}  // namespace bitale::link
