#include "compile/equivalences.hpp"

#include <utility>

#include "bitale/core/text.hpp"

namespace bitale {

namespace {

bool same_inputs(const Variables& a, const Variables& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!a[i].same_as(b[i])) return false;
  return true;
}

std::size_t key_of(const Op& op, const Variables& inputs) {
  std::size_t key = op.hash();
  for (auto& input : inputs) key = key * 0x9e3779b97f4a7c15u + VariableHash()(input);
  return key;
}

constexpr std::string_view undone = "roll back";  // the reason that features receive for a change that is undone

std::string label_of(const Variable& variable) {
  return variable.has_owner() ? cat(variable.owner_op()->label(), ".", variable.index()) : variable.str();
}

}  // namespace

Apply EquivalenceTracker::consed(const Apply& original, Variables inputs) {
  const std::size_t key = key_of(original.op(), inputs);
  for (auto [at, end] = known_.equal_range(key); at != end; ++at)
    if (same_inputs(at->second.inputs(), inputs) && at->second.op().equals(original.op())) return at->second;
  std::vector<Type> types;
  for (auto& output : original.outputs()) types.push_back(output.type());
  Apply copy(original.op_ref(), std::move(inputs), types);
  copy.node()->provenance = original.provenance();
  for (std::size_t i = 0; i < original.output_count(); ++i)
    copy.output(int(i)).set_name(original.output(int(i)).name());
  known_.emplace(key, copy);
  return copy;
}

Apply EquivalenceTracker::copy_of_node(ApplyNode* start) {
  std::vector<ApplyNode*> stack{start};
  while (!stack.empty()) {
    ApplyNode* node = stack.back();
    if (copies_.count(node)) {
      stack.pop_back();
      continue;
    }
    Variables inputs;
    for (auto& input : node->inputs) {
      if (!input.has_owner()) {
        inputs.push_back(input);
        continue;
      }
      ApplyNode* below = input.node()->owner;
      if (const auto found = copies_.find(below); found != copies_.end())
        inputs.push_back(found->second.output(input.index()));
      else
        stack.push_back(below);
    }
    if (inputs.size() < node->inputs.size()) continue;
    copies_.emplace(node, consed(Apply::of(node), std::move(inputs)));
    stack.pop_back();
  }
  return copies_.at(start);
}

Variable EquivalenceTracker::copy_of(const Variable& variable) {
  return variable.has_owner() ? copy_of_node(variable.node()->owner).output(variable.index()) : variable;
}

// The copies of the node and of all nodes that depend on it are outdated: these are different expressions from now on.
// If a node has no copy, the nodes that depend on it have none either.
void EquivalenceTracker::forget_above(ApplyNode* node) {
  std::vector<ApplyNode*> stack{node};
  while (!stack.empty()) {
    ApplyNode* at = stack.back();
    stack.pop_back();
    if (!copies_.erase(at) || !graph_->contains(Apply::of(at))) continue;
    for (std::size_t i = 0; i < at->output_count; ++i)
      for (const Client& client : graph_->clients(Variable::of(&at->outputs[i])))
        if (client.node) stack.push_back(client.node);
  }
}

void EquivalenceTracker::on_prune(FunctionGraph&, const Apply& node, std::string_view) { copies_.erase(node.node()); }

void EquivalenceTracker::on_change_input(FunctionGraph&, const Client& client, const Variable& before,
                                         const Variable& after, std::string_view reason) {
  if (reason == undone) {
    pending_.clear();
  } else if (before.node() != last_before_ || after.node() != last_after_) {
    last_before_ = before.node();
    last_after_ = after.node();
    events_.push_back(cat(reason, ": ", label_of(before), " -> ", label_of(after)));
    Replacement made{copy_of(before), copy_of(after), std::string(reason)};
    if (!made.before.same_as(made.after)) pending_.push_back(std::move(made));
  }
  if (client.node) forget_above(client.node);
}

void EquivalenceTracker::on_commit(FunctionGraph&, const std::shared_ptr<Changes>&) {
  for (auto& each : pending_) committed_.push_back(std::move(each));
  pending_.clear();
  last_before_ = last_after_ = nullptr;
}

}  // namespace bitale
