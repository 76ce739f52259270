// Copying of graphs, shared by clone() and FunctionGraph.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "bitale/graph/traversal.hpp"
#include "bitale/graph/variable.hpp"
#include "graph/pointer_map.hpp"

namespace bitale {

// Maps variables to their replacements in a copy.
struct CopyMemo {
  void insert(const Variable& original, const Variable& copy) {
    if (indices.insert(original.node(), std::uint32_t(pairs.size())).second) pairs.emplace_back(original, copy);
  }
  const Variable* find(const Variable& original) const {
    const std::uint32_t* index = indices.find(original.node());
    return index ? &pairs[*index].second : nullptr;
  }

  std::vector<std::pair<Variable, Variable>> pairs;
  PointerMap<std::uint32_t> indices;
};

// A copy of the node with other inputs and the same output types and provenance. copy_names copies the names, and
// whether NanGuardMode ignores the variables.
Apply copy_node(const Apply& node, Variables inputs);
void copy_names(const Apply& from, const Apply& to);

// Copies everything that the outputs need. Variables in the memo are replaced by their entries, and copies are added to
// it.
Variables copy_graph(std::span<const Variable> outputs, CopyMemo& memo, ClonedLeaves leaves = ClonedLeaves::Keep);

}  // namespace bitale
