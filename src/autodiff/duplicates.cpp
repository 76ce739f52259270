#include "autodiff/duplicates.hpp"

#include "graph/hash.hpp"
#include "graph/merge_table.hpp"

namespace bitale {

namespace {

// Larger constants are equal only if they are the same variable.
constexpr std::int64_t compared_bytes = 256;

bool have_equal_types(const Apply& a, const Apply& b) {
  if (a.output_count() != b.output_count()) return false;
  for (std::size_t i = 0; i < a.output_count(); ++i)
    if (!a.output(int(i)).type()->equals(*b.output(int(i)).type())) return false;
  return true;
}

}  // namespace

const VariableNode* Duplicates::representative(const Variable& v) {
  if (const VariableNode* const* known = representatives_.find(v.node())) return *known;
  if (!v.is_constant() || !v.constant() || v.constant()->nbytes() > compared_bytes) return v.node();
  const std::size_t hash = hash_array(*v.constant());
  const auto [from, to] = constants_.equal_range(hash);
  for (auto at = from; at != to; ++at) {
    if (!at->second.type()->equals(*v.type()) || !same_constant(*at->second.constant(), *v.constant())) continue;
    representatives_.insert(v.node(), at->second.node());
    return at->second.node();
  }
  constants_.emplace(hash, v);
  representatives_.insert(v.node(), v.node());
  return v.node();
}

Apply Duplicates::earlier(const Apply& node) {
  std::size_t hash = node.op().hash();
  for (const Variable& input : node.inputs())
    hash = hash_mix(hash, reinterpret_cast<std::uintptr_t>(representative(input)));
  const auto [from, to] = nodes_.equal_range(hash);
  for (auto at = from; at != to; ++at) {
    const Apply& other = at->second;
    bool is_same =
        other.inputs().size() == node.inputs().size() && other.op().equals(node.op()) && have_equal_types(other, node);
    for (std::size_t i = 0; is_same && i < node.inputs().size(); ++i)
      is_same = representative(other.inputs()[i]) == representative(node.inputs()[i]);
    if (!is_same) continue;
    for (std::size_t o = 0; o < node.output_count(); ++o)
      representatives_.insert(&node.node()->outputs[o], &other.node()->outputs[o]);
    return other;
  }
  nodes_.emplace(hash, node);
  return {};
}

}  // namespace bitale
