#include "rewriting/rule_index.hpp"

#include <algorithm>
#include <mutex>

#include "bitale/graph/op.hpp"

namespace bitale::rewriting {

namespace {

// Kinds of variables. Kinds of ops follow these.
enum : std::uint32_t { no_input, leaf, constant_leaf, first_op };

std::uint32_t kind_of(const VariableNode& v) {
  if (v.owner) return first_op + v.owner->op->kind();
  return v.leaf && v.leaf->constant() ? constant_leaf : leaf;
}

}  // namespace

NodeSort::NodeSort(const ApplyNode& node) {
  const Variables& inputs = node.inputs;
  const bool twice_the_same = inputs.size() == 2 && inputs[0].same_as(inputs[1]);
  parts[0] = node.op->kind();
  parts[1] = std::uint32_t(2 * inputs.size() + twice_the_same);
  for (std::size_t i = 0; i < inputs_looked_at; ++i)
    parts[2 + i] = i < inputs.size() ? kind_of(*inputs[i].node()) : no_input;
}

std::size_t NodeSortHash::operator()(const NodeSort& sort) const {
  std::size_t seed = 0;
  for (std::uint32_t part : sort.parts) seed = (seed ^ part) * 0x9E3779B97F4A7C15u;
  return seed ^ (seed >> 32);
}

RuleIndex::RuleIndex(SharedRules rules) : rules_(std::move(rules)) {
  for (auto& rule : rules_) depth_ = std::max(depth_, rule->depth());
}

std::span<const int> RuleIndex::at(const Apply& node) const {
  const NodeSort sort(*node.node());
  {
    std::shared_lock lock(cache_->mutex);
    if (auto known = cache_->by_sort.find(sort); known != cache_->by_sort.end()) return known->second;
  }
  std::vector<int> found;
  for (std::size_t i = 0; i < rules_.size(); ++i)
    if (rules_[i]->may_apply(node)) found.push_back(int(i));
  std::unique_lock lock(cache_->mutex);
  return cache_->by_sort.try_emplace(sort, std::move(found)).first->second;
}

}  // namespace bitale::rewriting
