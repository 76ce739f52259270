#include "rewriting/rule_index.hpp"

#include <algorithm>
#include <mutex>

#include "ops/elemwise.hpp"

namespace bitale::rewriting {

namespace {

// A short text that decides which roots match: the op's name, or the scalar op's behind a mark no op's name has.
std::string kind_of(const Op& op) {
  if (const auto* element = dynamic_cast<const Elemwise*>(&op)) return '\0' + std::string(element->scalar.name);
  return std::string(op.name());
}

}  // namespace

RuleIndex::RuleIndex(std::vector<const Rule*> rules) : rules_(std::move(rules)) {
  for (const Rule* rule : rules_) depth_ = std::max(depth_, rule->depth());
}

std::span<const int> RuleIndex::at(const Op& op) const {
  const std::string kind = kind_of(op);
  {
    std::shared_lock lock(cache_->mutex);
    if (auto known = cache_->by_kind.find(kind); known != cache_->by_kind.end()) return known->second;
  }
  std::vector<int> found;
  for (std::size_t i = 0; i < rules_.size(); ++i)
    if (rules_[i]->root().matches(op)) found.push_back(int(i));
  std::unique_lock lock(cache_->mutex);
  return cache_->by_kind.try_emplace(kind, std::move(found)).first->second;
}

}  // namespace bitale::rewriting
