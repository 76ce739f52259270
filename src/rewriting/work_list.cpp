#include "rewriting/work_list.hpp"

#include <algorithm>
#include <utility>

namespace bitale::rewriting {

namespace {

// Beyond this many users above a change, the rest is left to the next pass.
constexpr std::size_t max_noted_above = 32;
// The number of levels above a change that the next pass visits. Few rules look this far.
constexpr int levels_of_next_pass = 64;

// Calls visit(node) for the nodes that use the node's outputs.
template <class Visit>
void visit_users(const FunctionGraph& graph, ApplyNode* node, Visit&& visit) {
  for (std::size_t output = 0; output < node->output_count; ++output)
    for (const Client& client : graph.clients(Variable::of(&node->outputs[output])))
      if (client.node) visit(client.node);
}

}  // namespace

void WorkList::add_all(FunctionGraph& graph) {
  all_ = graph.slots_in_order();
  at_ = 0;
  touched_.clear();
  for (std::uint32_t slot : all_) set_waiting(slot);
}

void WorkList::add_changed(const FunctionGraph& graph) {
  std::vector<char> found(graph.slot_count());
  Slots level;
  for (std::uint32_t slot : touched_)
    if (!std::exchange(found[slot], true) && graph.at_slot(slot).defined()) level.push_back(slot);
  touched_.clear();
  all_ = level;
  at_ = 0;
  for (int i = 0; i < levels_of_next_pass && !level.empty(); ++i) {
    Slots above;
    for (std::uint32_t slot : level)
      visit_users(graph, graph.at_slot(slot).node(), [&](ApplyNode* user) {
        const auto at = std::uint32_t(graph.slot(user));
        if (!std::exchange(found[at], true)) above.push_back(at);
      });
    level = std::move(above);
    all_.insert(all_.end(), level.begin(), level.end());
  }
  graph.sort_slots(all_);
  for (std::uint32_t slot : all_) set_waiting(slot);
}

Apply WorkList::next(const FunctionGraph& graph) {
  // The nodes of the latest change are visited in the order in which they were noted: inputs before their users.
  changed_.insert(changed_.end(), noted_.rbegin(), noted_.rend());
  noted_.clear();
  while (!changed_.empty()) {
    const std::uint32_t slot = changed_.back();
    changed_.pop_back();
    if (!take(slot)) continue;
    if (Apply node = graph.at_slot(slot); node.defined()) return node;
  }
  while (at_ < all_.size()) {
    const std::uint32_t slot = all_[at_++];
    // A node that was noted in the meantime was already visited.
    if (!take(slot)) continue;
    if (Apply node = graph.at_slot(slot); node.defined()) return node;
  }
  return Apply();
}

bool WorkList::set_waiting(std::uint32_t slot) {
  if (slot >= waiting_.size()) waiting_.resize(std::max<std::size_t>(slot + 1, 2 * waiting_.size()));
  return !std::exchange(waiting_[slot], true);
}

bool WorkList::take(std::uint32_t slot) { return std::exchange(waiting_[slot], false); }

void WorkList::note(std::uint32_t slot) {
  touched_.push_back(slot);
  // Nodes that the pass has not reached yet keep their position in it: their inputs are simplified first.
  if (set_waiting(slot)) noted_.push_back(slot);
}

void WorkList::note_above(const FunctionGraph& graph, ApplyNode* node) {
  std::vector<ApplyNode*> level{node};
  std::size_t noted = 0;
  for (int i = 0; i < levels_ && !level.empty() && noted <= max_noted_above; ++i) {
    std::vector<ApplyNode*> above;
    for (ApplyNode* below : level)
      visit_users(graph, below, [&](ApplyNode* user) {
        if (++noted > max_noted_above) return;
        note(std::uint32_t(graph.slot(user)));
        above.push_back(user);
      });
    level = std::move(above);
  }
}

void WorkList::on_import(FunctionGraph& graph, const Apply& node, std::string_view) {
  ++changes_;
  add(graph, node);
}

void WorkList::on_change_input(FunctionGraph& graph, const Client& client, const Variable& before, const Variable&,
                               std::string_view) {
  ++changes_;
  if (client.node) {
    note(std::uint32_t(graph.slot(client.node)));
    note_above(graph, client.node);
  }
  // Rules that require a variable to have a single use may now apply to the remaining use.
  const std::span<const Client> left = graph.clients(before);
  if (left.size() == 1 && left[0].node) note(std::uint32_t(graph.slot(left[0].node)));
}

}  // namespace bitale::rewriting
