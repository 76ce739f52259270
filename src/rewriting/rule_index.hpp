// Index of the rules that may apply to a node, looked up in constant time by the kinds of its op and of its first
// inputs. For the first node of a sort all rules are tested, and the result is memoized.
#pragma once

#include <array>
#include <memory>
#include <shared_mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "bitale/rewriting/rules.hpp"

namespace bitale::rewriting {

// The key of the index: the kinds of the node's op and of its inputs.
struct NodeSort {
  explicit NodeSort(const ApplyNode& node);
  bool operator==(const NodeSort&) const = default;
  std::array<std::uint32_t, 2 + inputs_looked_at> parts;
};
struct NodeSortHash {
  std::size_t operator()(const NodeSort& sort) const;
};

using SharedRules = std::vector<std::shared_ptr<const Rule>>;

class RuleIndex {
 public:
  RuleIndex() = default;
  explicit RuleIndex(SharedRules rules);
  const SharedRules& rules() const { return rules_; }
  // Positions in rules(), in order. Thread-safe; valid as long as the index.
  std::span<const int> at(const Apply& node) const;
  // The largest number of levels of nodes below its root that any rule inspects.
  int depth() const { return depth_; }

 private:
  SharedRules rules_;
  int depth_ = 1;
  struct Cache {
    std::shared_mutex mutex;
    std::unordered_map<NodeSort, std::vector<int>, NodeSortHash> by_sort;
  };
  std::unique_ptr<Cache> cache_ = std::make_unique<Cache>();
};

}  // namespace bitale::rewriting
