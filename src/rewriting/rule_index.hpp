// Which rules may apply to a node: found by its op in constant time. The first node of a kind asks every rule's root,
// and the answer is kept.
#pragma once

#include <memory>
#include <shared_mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "bitale/rewriting/rules.hpp"

namespace bitale::rewriting {

class RuleIndex {
 public:
  explicit RuleIndex(std::vector<const Rule*> rules);
  const std::vector<const Rule*>& rules() const { return rules_; }
  // Positions in rules(), in order. Thread-safe; valid as long as the index.
  std::span<const int> at(const Op& op) const;
  // How many levels of nodes below its root any rule looks at.
  int depth() const { return depth_; }

 private:
  std::vector<const Rule*> rules_;
  int depth_ = 1;
  struct Cache {
    std::shared_mutex mutex;
    std::unordered_map<std::string, std::vector<int>> by_kind;
  };
  std::unique_ptr<Cache> cache_ = std::make_unique<Cache>();
};

}  // namespace bitale::rewriting
