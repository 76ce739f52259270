#include "graph/held_elsewhere.hpp"

namespace bitale {

PointerSet held_elsewhere(std::span<const Apply> nodes, std::uint32_t own) {
  PointerMap<std::uint32_t> edges;
  for (const Apply& node : nodes)
    for (const Variable& input : node.inputs())
      if (input.node()->owner) ++*edges.insert(input.node()->owner, 0).first;
  PointerSet out;
  for (const Apply& node : nodes) {
    const std::uint32_t* at = edges.find(node.node());
    if (node.node()->count.load(std::memory_order_relaxed) > (at ? *at : 0) + own) out.insert(node.node());
  }
  return out;
}

}  // namespace bitale
