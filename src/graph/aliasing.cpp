// An output without a declared view is new memory. An output that destroys an input counts as new, too, since the input
// is dead afterwards.
#include "graph/aliasing.hpp"

#include <algorithm>

namespace bitale {

Variables memory_roots(const Variable& v) {
  Variables roots, waiting{v};
  PointerSet seen;
  while (!waiting.empty()) {
    const Variable at = std::move(waiting.back());
    waiting.pop_back();
    if (!seen.insert(at.node())) continue;
    const Apply owner = at.owner();
    const std::vector<int> viewed = owner.defined() ? owner.op().view_of(owner, at.index()) : std::vector<int>();
    if (viewed.empty()) roots.push_back(at);
    for (int i : viewed) waiting.push_back(owner.input(i));
  }
  return roots;
}

Variables views_of(const FunctionGraph& graph, const Variable& root) {
  Variables out{root};
  PointerSet seen;
  seen.insert(root.node());
  for (std::size_t at = 0; at < out.size(); ++at)
    for (const Client& client : graph.clients(Variable(out[at]))) {
      if (!client.node) continue;
      const Apply node = Apply::of(client.node);
      for (int k = 0; k < int(node.output_count()); ++k) {
        const std::vector<int> viewed = node.op().view_of(node, k);
        const bool is_view = std::find(viewed.begin(), viewed.end(), client.index) != viewed.end();
        if (is_view && seen.insert(node.output(k).node())) out.push_back(node.output(k));
      }
    }
  return out;
}

std::vector<int> destroyed_inputs(const Apply& node) {
  std::vector<int> out;
  for (int k = 0; k < int(node.output_count()); ++k)
    for (int i : node.op().destroys(node, k))
      if (std::find(out.begin(), out.end(), i) == out.end()) out.push_back(i);
  return out;
}

Aliasing::Aliasing(const FunctionGraph& graph, std::span<const Apply> order) : order_(order.begin(), order.end()) {
  for (std::size_t position = 0; position < order_.size(); ++position) {
    const Apply& node = order_[position];
    for (auto& input : node.inputs()) {
      const bool is_new = !sets_of_.contains(input.node());
      const int set = root(set_of(input));
      if (is_new) sets_[std::size_t(set)].kept = true;  // a leaf: outputs of nodes are visited before their readers
      sets_[std::size_t(set)].last_use = position;
    }
    for (int k = 0; k < int(node.output_count()); ++k) {
      const int set = set_of(node.output(k));
      for (int i : node.op().view_of(node, k)) unite(set_of(node.input(i)), set);
    }
  }
  for (auto& output : graph.outputs()) sets_[std::size_t(root(set_of(output)))].kept = true;
}

int Aliasing::set_of(const Variable& v) {
  const auto [set, is_new] = sets_of_.insert(v.node(), int(sets_.size()));
  if (is_new) sets_.push_back({*set});
  return *set;
}

int Aliasing::root(int set) const {
  while (sets_[std::size_t(set)].parent != set) set = sets_[std::size_t(set)].parent;
  return set;
}

// The first set stays the root, so that in chains of views the paths to it stay short.
void Aliasing::unite(int a, int b) {
  a = root(a);
  b = root(b);
  if (a == b) return;
  sets_[std::size_t(b)].parent = a;
  sets_[std::size_t(a)].kept |= sets_[std::size_t(b)].kept;
  sets_[std::size_t(a)].last_use = std::max(sets_[std::size_t(a)].last_use, sets_[std::size_t(b)].last_use);
}

bool Aliasing::may_destroy(std::size_t position, int input) const {
  const Apply& node = order_[position];
  const int set = root(*sets_of_.find(node.input(input).node()));
  const Set& memory = sets_[std::size_t(set)];
  if (memory.kept || memory.last_use != position) return false;
  for (int i = 0; i < int(node.inputs().size()); ++i)
    if (i != input && root(*sets_of_.find(node.input(i).node())) == set) return false;
  return true;
}

}  // namespace bitale
