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

PointerSet held_elsewhere(std::span<const Apply> nodes, std::uint32_t own) {
  PointerSet out;
  PointerMap<std::uint32_t> edges;
  for (const Apply& node : nodes)
    for (const Variable& input : node.inputs())
      if (input.node()->owner) ++*edges.insert(input.node()->owner, 0).first;
  for (const Apply& node : nodes) {
    const std::uint32_t* at = edges.find(node.node());
    const std::uint32_t known = (at ? *at : 0) + own;
    if (node.node()->count.load(std::memory_order_relaxed) > known) out.insert(node.node());
  }
  return out;
}

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
  if (held_elsewhere_.contains(node.node())) return {};
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
