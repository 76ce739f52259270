// The depth-first walk shared by all traversals, on an explicit stack.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "bitale/graph/variable.hpp"
#include "graph/pointer_map.hpp"

namespace bitale {

struct NoBlockers {
  bool operator()(const VariableNode*) const { return false; }
};

// Calls visit(node) for every Apply that the outputs need, after those it needs itself.
// blocked(variable): whether the walk stops at that variable.
// `seen` records visited nodes: insert(node) returns whether the node is new.
template <class Blocked, class Visit, class Seen = PointerSet>
void visit_nodes(std::span<const Variable> outputs, Blocked&& blocked, Visit&& visit, Seen seen = Seen()) {
  std::vector<std::pair<ApplyNode*, std::size_t>> stack;  // a node, and the next of its inputs to visit
  auto enter = [&](const Variable& v) {
    if (ApplyNode* owner = v.node()->owner; owner && !blocked(v.node()) && seen.insert(owner))
      stack.push_back({owner, 0});
  };
  for (const Variable& output : outputs) {
    if (!output.defined()) refuse_null_handle("Variable");
    enter(output);
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next < node->inputs.size()) {
        enter(node->inputs[next++]);
      } else {
        ApplyNode* done = node;
        stack.pop_back();
        visit(done);
      }
    }
  }
}

}  // namespace bitale
