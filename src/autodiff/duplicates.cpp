#include "autodiff/duplicates.hpp"

#include "graph/hash.hpp"
#include "graph/merge_table.hpp"

namespace bitale {

namespace {

// Larger constants are equal only if they are the same variable.
constexpr std::int64_t compared_bytes = 256;

}  // namespace

const VariableNode* Duplicates::representative(const Variable& v) {
  if (const VariableNode* const* known = representatives_.find(v.node())) return *known;
  const Array* value = v.constant();
  if (!value || value->nbytes() > compared_bytes) return v.node();
  const auto is_equal = [&](const Entry<VariableNode>& other) {
    return other.node->type->equals(*v.type()) && same_constant(*other.node->leaf->constant(), *value);
  };
  const VariableNode* first = constants_.insert({v.node(), hash_array(*value)}, is_equal).first.node;
  representatives_.insert(v.node(), first);
  return first;
}

bool Duplicates::are_equal(const ApplyNode& a, const ApplyNode& b) {
  if (a.inputs.size() != b.inputs.size() || a.output_count != b.output_count || !a.op->equals(*b.op)) return false;
  for (std::size_t i = 0; i < a.inputs.size(); ++i)
    if (representative(a.inputs[i]) != representative(b.inputs[i])) return false;
  for (std::size_t o = 0; o < a.output_count; ++o)
    if (!a.outputs[o].type->equals(*b.outputs[o].type)) return false;
  return true;
}

const ApplyNode* Duplicates::earlier(const ApplyNode& node) {
  if (held_elsewhere_.contains(&node)) return nullptr;
  std::size_t hash = node.op->hash();
  for (const Variable& input : node.inputs)
    hash = hash_mix(hash, reinterpret_cast<std::uintptr_t>(representative(input)));
  const auto is_equal = [&](const Entry<ApplyNode>& other) {
    return other.mixed == hash && are_equal(*other.node, node);
  };
  const auto [found, is_new] = nodes_.insert({&node, hash}, is_equal);
  if (is_new || !node.op->has_linear_pullback()) return nullptr;
  for (std::size_t o = 0; o < node.output_count; ++o)
    representatives_.insert(&node.outputs[o], &found.node->outputs[o]);
  return found.node;
}

}  // namespace bitale
