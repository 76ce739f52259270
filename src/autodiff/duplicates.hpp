// Nodes of an expression that compute the same as an earlier one (equal op, equal inputs): a recursive formula without
// sharing has many. Differentiation adds up their cotangents and passes them on once; otherwise each would have
// derivatives of its own, which are not equal and so are never merged. A node to which somebody else has a handle is
// left alone: its outputs may be named in a later call, where the derivative by one of them excludes the others.
// So is a node whose pullback may not be linear: what it makes of a sum is not the sum of what it makes of the terms.
#pragma once

#include "bitale/core/flat_table.hpp"
#include "bitale/graph/op.hpp"
#include "graph/pointer_map.hpp"

namespace bitale {

class Duplicates {
 public:
  explicit Duplicates(const PointerSet& held_elsewhere) : held_elsewhere_(held_elsewhere) {}
  // The node that was given before and computes the same, or null. Nodes come in topological order, and live on.
  const ApplyNode* earlier(const ApplyNode& node);

 private:
  template <class Node>
  struct Entry {
    const Node* node = nullptr;
    std::size_t mixed = 0;
    std::size_t hash() const { return mixed ^ mixed >> 32; }
    bool is_free() const { return !node; }
  };

  const VariableNode* representative(const Variable& v);
  bool are_equal(const ApplyNode& a, const ApplyNode& b);

  const PointerSet& held_elsewhere_;
  PointerMap<const VariableNode*> representatives_;
  FlatTable<Entry<ApplyNode>> nodes_;
  FlatTable<Entry<VariableNode>> constants_;
};

}  // namespace bitale
