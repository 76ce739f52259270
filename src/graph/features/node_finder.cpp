// The nodes of the graph by op.
#include "bitale/graph/features.hpp"

namespace bitale {

void NodeFinder::on_import(FunctionGraph&, const Apply& node, std::string_view) {
  by_name_[std::string(node.op().name())].insert(node.node());
}

void NodeFinder::on_prune(FunctionGraph&, const Apply& node, std::string_view) {
  const auto found = by_name_.find(std::string(node.op().name()));
  if (found == by_name_.end()) return;
  found->second.erase(node.node());
  if (found->second.empty()) by_name_.erase(found);
}

std::vector<Apply> NodeFinder::query(std::string_view op_name) const {
  std::vector<Apply> out;
  const auto found = by_name_.find(std::string(op_name));
  if (found == by_name_.end()) return out;
  for (ApplyNode* node : found->second) out.push_back(Apply::of(node));
  return out;
}

std::vector<Apply> NodeFinder::query(const Op& op) const {
  std::vector<Apply> out = query(op.name());
  std::erase_if(out, [&](const Apply& node) { return !node.op().equals(op); });
  return out;
}

}  // namespace bitale
