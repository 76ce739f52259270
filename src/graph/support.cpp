#include "graph/support.hpp"

#include <vector>

namespace bitale {

namespace {

thread_local SupportScope* innermost = nullptr;

constexpr std::int64_t max_inspected_elements = 64;

Support support_of_leaf(const Variable& v) {
  const Array* value = v.constant();
  if (!value || !as_tensor(v.type()) || value->size() > max_inspected_elements) return {};
  const Array numbers = is_complex(value->dtype()) ? value->as_pairs() : *value;
  const Array truths = numbers.astype(DType::Bool).contiguous();
  for (std::int64_t i = 0; i < truths.size(); ++i)
    if (truths.data_as<bool>()[i]) return {};
  return {.kind = Support::Kind::nowhere};
}

// The inputs that decide the support of a computed variable.
std::vector<int> carriers_of(const Variable& v) {
  const Apply node = v.owner();
  const auto* states = dynamic_cast<const StatesSupport*>(&node.op());
  return states ? states->support_carriers(node, v.index()) : std::vector<int>();
}

}  // namespace

SupportScope::SupportScope() : outer_(innermost) { innermost = this; }
SupportScope::~SupportScope() { innermost = outer_; }

void SupportScope::state(const Variable& v, Support support) { known_.insert(v.node(), {v, std::move(support)}); }

const SupportScope::Known* SupportScope::find(const VariableNode* v) const {
  for (const SupportScope* scope = this; scope; scope = scope->outer_)
    if (const Known* known = scope->known_.find(v)) return known;
  return nullptr;
}

Support support_of(const Variable& v) {
  // Most cotangents are products, of which nothing is known.
  if (v.has_owner() && carriers_of(v).empty()) return {};
  SupportScope temporary;
  SupportScope& scope = temporary.outer_ ? *temporary.outer_ : temporary;
  std::vector<Variable> open{v};
  while (!open.empty()) {
    const Variable at = open.back();
    if (scope.find(at.node())) {
      open.pop_back();
      continue;
    }
    const std::vector<int> carriers = at.has_owner() ? carriers_of(at) : std::vector<int>();
    if (carriers.empty()) {
      scope.state(at, at.has_owner() ? Support() : support_of_leaf(at));
      continue;
    }
    const Apply node = at.owner();
    std::vector<Support> inputs(node.inputs().size());
    bool complete = true;
    for (int i : carriers) {
      const Variable& input = node.inputs()[std::size_t(i)];
      if (const auto* known = scope.find(input.node())) {
        inputs[std::size_t(i)] = known->support;
      } else {
        open.push_back(input);
        complete = false;
      }
    }
    if (complete) scope.state(at, dynamic_cast<const StatesSupport&>(node.op()).support(node, at.index(), inputs));
  }
  return scope.find(v.node())->support;
}

}  // namespace bitale
