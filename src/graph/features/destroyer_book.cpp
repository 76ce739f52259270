// The nodes of a graph that destroy an input.
#include <algorithm>

#include "bitale/graph/features.hpp"
#include "graph/aliasing.hpp"

namespace bitale {

void DestroyerBook::on_import(FunctionGraph&, const Apply& node, std::string_view) {
  if (!destroyed_inputs(node).empty()) numbers_.emplace(node.node(), next_++);
}

void DestroyerBook::on_prune(FunctionGraph&, const Apply& node, std::string_view) { numbers_.erase(node.node()); }

std::vector<Apply> DestroyerBook::destroyers() const {
  std::vector<std::pair<std::size_t, ApplyNode*>> numbered;
  for (auto& [node, number] : numbers_) numbered.emplace_back(number, node);
  std::sort(numbered.begin(), numbered.end());
  std::vector<Apply> out;
  for (auto& [number, node] : numbered) out.push_back(Apply::of(node));
  return out;
}

}  // namespace bitale
