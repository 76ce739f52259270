// MergeTable: finds the node of a graph that computes the same as another one (equal op, same inputs), and the constant
// with the same value. It keeps a FunctionGraph free of duplicates (hash consing).
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "bitale/graph/op.hpp"

namespace bitale {

// Whether the two constants are interchangeable.
bool same_constant(const Array& a, const Array& b);

class MergeTable {
 public:
  // The node of the table that computes the same as `node`, or nullptr.
  ApplyNode* find(const ApplyNode& node) const;
  // The same for a node like `node` with these inputs, whose hash is known.
  static std::size_t hash(const ApplyNode& node, std::span<const Variable> inputs);
  ApplyNode* find(const ApplyNode& node, std::span<const Variable> inputs, std::size_t hash) const;
  void add(ApplyNode* node);  // it has a record
  void add(ApplyNode* node, std::size_t hash);
  void remove(ApplyNode* node);

  Variable find_constant(const Variable& constant) const;  // or a null handle
  void add_constant(const Variable& constant);
  void remove_constant(const Variable& constant);

 private:
  std::size_t bucket_of(std::size_t hash) const { return (hash ^ hash >> 32) & (buckets_.size() - 1); }
  void grow();

  // Chains of nodes, linked through their records, which also keep the hashes.
  std::vector<ApplyNode*> buckets_ = std::vector<ApplyNode*>(16);
  std::size_t node_count_ = 0;
  std::unordered_multimap<std::size_t, VariableNode*> constants_;
};

}  // namespace bitale
