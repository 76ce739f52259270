#include "link/node_code.hpp"

#include <algorithm>

#include "graph/lazy.hpp"

namespace bitale::link {

namespace {

bool is_view(const Apply& node) {
  for (std::size_t k = 0; k < node.output_count(); ++k)
    if (node.op().view_of(node, int(k)).empty()) return false;
  return true;
}

// Whether all that its code does is to call perform.
bool is_called_back(const Thunk& thunk, const FunctionGraph& graph) {
  for (auto& node : graph.toposort())
    if (!thunk.note(node).empty()) return true;
  return false;
}

}  // namespace

NodeCode node_code(const Apply& node, std::string_view way, const LinkOptions& options) {
  NodeCode code;
  const bool where_it_pays = way == "opwise";
  if (way == "vm" || lazy_inputs(node) || (where_it_pays && is_view(node))) return code;
  Variables inputs;
  for (std::size_t i = 0; i < node.inputs().size(); ++i) {
    const Variable& input = node.inputs()[i];
    const auto is_same = [&](const Variable& other) { return other.same_as(input); };
    if (input.is_constant() || std::any_of(inputs.begin(), inputs.end(), is_same)) continue;
    inputs.push_back(input);
    code.inputs.push_back(i);
  }
  const auto graph = std::make_shared<FunctionGraph>(inputs, node.outputs());
  code.thunk = link(where_it_pays ? "jit" : way, graph, options);
  if (where_it_pays && is_called_back(*code.thunk, *graph)) return {};
  return code;
}

}  // namespace bitale::link
