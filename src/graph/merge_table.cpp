// Hashing and comparing of nodes and constants.
#include "graph/merge_table.hpp"

#include <algorithm>
#include <utility>

#include "bitale/core/error.hpp"
#include "graph/graph_state.hpp"
#include "graph/hash.hpp"

namespace bitale {

namespace {

// Larger constants are equal only if they share memory: comparing their contents repeatedly would be too expensive.
constexpr std::int64_t compared_bytes = 1 << 16;

std::size_t hash_constant(const Array& value) {
  if (value.nbytes() <= compared_bytes) return hash_array(value);
  return hash_mix(std::size_t(value.nbytes()), reinterpret_cast<std::uintptr_t>(value.data()));
}

// Types are compatible if they differ only in which static lengths are known.
bool compatible(const Type& a, const Type& b) {
  if (a->equals(*b)) return true;
  auto *x = as_tensor(a), *y = as_tensor(b);
  return x && y && x->dtype == y->dtype && x->ndim() == y->ndim();
}

// Whether `a` computes the same as a node like `b` with these inputs.
bool same_node(const ApplyNode& a, const ApplyNode& b, std::span<const Variable> inputs) {
  if (a.output_count != b.output_count || a.inputs.size() != inputs.size()) return false;
  if (!std::ranges::equal(a.inputs, inputs, VariableEqual())) return false;
  if (!a.op->equals(*b.op)) return false;
  for (std::size_t i = 0; i < a.output_count; ++i)
    if (!compatible(a.outputs[i].type, b.outputs[i].type)) return false;
  return true;
}

}  // namespace

bool same_constant(const Array& a, const Array& b) {
  if (a.nbytes() <= compared_bytes) return identical(a, b);
  return a.data() == b.data() && a.dtype() == b.dtype() && a.shape() == b.shape() && a.strides() == b.strides();
}

std::size_t MergeTable::hash(const ApplyNode& node, std::span<const Variable> inputs) {
  std::size_t seed = node.op->hash();
  for (const Variable& input : inputs) seed = hash_mix(seed, reinterpret_cast<std::uintptr_t>(input.node()));
  return seed;
}

ApplyNode* MergeTable::find(const ApplyNode& node, std::span<const Variable> inputs, std::size_t hash) const {
  ApplyNode* at = buckets_[bucket_of(hash)];
  while (at && !(at->record->hash == hash && same_node(*at, node, inputs))) at = at->record->next;
  return at;
}

ApplyNode* MergeTable::find(const ApplyNode& node) const { return find(node, node.inputs, hash(node, node.inputs)); }

void MergeTable::add(ApplyNode* node, std::size_t hash) {
  if (++node_count_ > buckets_.size()) grow();
  node->record->hash = hash;
  node->record->next = std::exchange(buckets_[bucket_of(hash)], node);
}

void MergeTable::add(ApplyNode* node) { add(node, hash(*node, node->inputs)); }

void MergeTable::remove(ApplyNode* node) {
  ApplyNode** link = &buckets_[bucket_of(node->record->hash)];
  while (*link && *link != node) link = &(*link)->record->next;
  if (!*link) throw InternalError("merge table: an entry is missing");
  *link = node->record->next;
  --node_count_;
}

void MergeTable::grow() {
  std::vector<ApplyNode*> old(2 * buckets_.size());
  old.swap(buckets_);
  for (ApplyNode* node : old)
    while (node) {
      ApplyNode* next = node->record->next;
      node->record->next = std::exchange(buckets_[bucket_of(node->record->hash)], node);
      node = next;
    }
}

Variable MergeTable::find_constant(const Variable& constant) const {
  const Array& value = *constant.constant();
  auto [from, to] = constants_.equal_range(hash_constant(value));
  for (auto it = from; it != to; ++it) {
    Variable candidate = Variable::of(it->second);
    const bool is_alike = as_tensor(candidate.type()) ? as_tensor(constant.type()) != nullptr
                                                      : candidate.type()->equals(*constant.type());
    if (is_alike && same_constant(*candidate.constant(), value)) return candidate;
  }
  return {};
}

void MergeTable::add_constant(const Variable& constant) {
  constants_.emplace(hash_constant(*constant.constant()), constant.node());
}
void MergeTable::remove_constant(const Variable& constant) {
  auto [from, to] = constants_.equal_range(hash_constant(*constant.constant()));
  auto found = std::find_if(from, to, [&](auto& entry) { return entry.second == constant.node(); });
  if (found == to) throw InternalError("merge table: a constant is missing");
  constants_.erase(found);
}

}  // namespace bitale
