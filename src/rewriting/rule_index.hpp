// Which rules are worth trying on a node: found in constant time by its op and by what its first inputs are. The first
// node of a sort asks every rule, and the answer is kept.
#pragma once

#include <array>
#include <memory>
#include <shared_mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "bitale/rewriting/rules.hpp"

namespace bitale::rewriting {

// What decides it: the kinds of the node's op and of its inputs.
struct NodeSort {
  explicit NodeSort(const ApplyNode& node);
  bool operator==(const NodeSort&) const = default;
  std::array<std::uint32_t, 2 + inputs_looked_at> parts;
};
struct NodeSortHash {
  std::size_t operator()(const NodeSort& sort) const;
};

class RuleIndex {
 public:
  explicit RuleIndex(std::vector<const Rule*> rules);
  const std::vector<const Rule*>& rules() const { return rules_; }
  // Positions in rules(), in order. Thread-safe; valid as long as the index.
  std::span<const int> at(const Apply& node) const;
  // How many levels of nodes below its root any rule looks at.
  int depth() const { return depth_; }

 private:
  std::vector<const Rule*> rules_;
  int depth_ = 1;
  struct Cache {
    std::shared_mutex mutex;
    std::unordered_map<NodeSort, std::vector<int>, NodeSortHash> by_sort;
  };
  std::unique_ptr<Cache> cache_ = std::make_unique<Cache>();
};

}  // namespace bitale::rewriting
