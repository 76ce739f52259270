// Nodes of an expression that compute the same as an earlier one (equal op, equal inputs): a recursive formula without
// sharing has many. Differentiation adds up their cotangents and passes them on once; otherwise each would have
// derivatives of its own, which are not equal and so are never merged. A node to which somebody else has a handle is
// left alone: its outputs may be named in a later call, where the derivative by one of them excludes the others.
#pragma once

#include <span>
#include <unordered_map>

#include "bitale/graph/op.hpp"
#include "graph/pointer_map.hpp"

namespace bitale {

// The nodes to which others have handles than the nodes of the expression, which are all given, and `own` for each.
PointerSet held_elsewhere(std::span<const Apply> nodes, std::uint32_t own);

class Duplicates {
 public:
  explicit Duplicates(const PointerSet& held_elsewhere) : held_elsewhere_(held_elsewhere) {}
  // The node that was given before and computes the same, or an undefined one. Nodes come in topological order.
  Apply earlier(const Apply& node);

 private:
  const VariableNode* representative(const Variable& v);

  const PointerSet& held_elsewhere_;
  PointerMap<const VariableNode*> representatives_;
  std::unordered_multimap<std::size_t, Apply> nodes_;
  std::unordered_multimap<std::size_t, Variable> constants_;
};

}  // namespace bitale
