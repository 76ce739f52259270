// MergeTable: finds the node of a graph that computes the same as another one (equal op, same inputs), and the constant
// with the same value. This is what keeps a FunctionGraph free of duplicates.
#pragma once

#include <span>
#include <unordered_map>

#include "bitale/graph/op.hpp"

namespace bitale {

// Whether one constant can stand for the other.
bool same_constant(const Array& a, const Array& b);

class MergeTable {
 public:
  // The node of the table that can stand for `node`, or nullptr.
  ApplyNode* find(const ApplyNode& node) const;
  void add(ApplyNode* node);
  void remove(ApplyNode* node);  // while its inputs are those it was added with

  Variable find_constant(const Variable& constant) const;  // or a null handle
  void add_constant(const Variable& constant);
  void remove_constant(const Variable& constant);

 private:
  std::unordered_multimap<std::size_t, ApplyNode*> nodes_;
  std::unordered_multimap<std::size_t, VariableNode*> constants_;
};

}  // namespace bitale
