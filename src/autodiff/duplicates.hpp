// Nodes of an expression that compute the same as an earlier one (equal op, equal inputs): a recursive formula without
// sharing has many. Differentiation adds up their cotangents and passes them on once; otherwise each would have
// derivatives of its own, which are not equal and so are never merged.
#pragma once

#include <unordered_map>

#include "bitale/graph/op.hpp"
#include "graph/pointer_map.hpp"

namespace bitale {

class Duplicates {
 public:
  // The node that was given before and computes the same, or an undefined one. Nodes come in topological order.
  Apply earlier(const Apply& node);

 private:
  const VariableNode* representative(const Variable& v);

  PointerMap<const VariableNode*> representatives_;
  std::unordered_multimap<std::size_t, Apply> nodes_;
  std::unordered_multimap<std::size_t, Variable> constants_;
};

}  // namespace bitale
