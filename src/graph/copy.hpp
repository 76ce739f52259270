// Copying of graphs, which clone() and FunctionGraph share.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "bitale/graph/variable.hpp"
#include "graph/pointer_map.hpp"

namespace bitale {

// What stands for a variable in a copy.
struct CopyMemo {
  void insert(const Variable& original, const Variable& copy) {
    if (places.insert(original.node(), std::uint32_t(pairs.size())).second) pairs.emplace_back(original, copy);
  }
  const Variable* find(const Variable& original) const {
    const std::uint32_t* place = places.find(original.node());
    return place ? &pairs[*place].second : nullptr;
  }

  std::vector<std::pair<Variable, Variable>> pairs;
  PointerMap<std::uint32_t> places;
};

// The node's own copy over other inputs: same output types and provenance; and the names, and what NanGuardMode is not
// to look at.
Apply copy_node(const Apply& node, Variables inputs);
void copy_names(const Apply& from, const Apply& to);

// Copies what the outputs need; variables of the memo are replaced by what it says, and copies are added to it.
Variables copy_graph(std::span<const Variable> outputs, CopyMemo& memo, bool copy_leaves = false);

}  // namespace bitale
