#include "rewriting/work_list.hpp"

namespace bitale::rewriting {

namespace {

// A change far below a node with very many users is left to the next pass.
constexpr std::size_t most_noted_above = 32;

}  // namespace

void WorkList::add_all(const FunctionGraph& graph) {
  all_ = graph.toposort();
  at_ = 0;
  for (auto& node : all_) waiting_.insert(node.node());
}

Apply WorkList::next() {
  // What a change noted first comes first: inputs before what needs them.
  while (!noted_.empty()) {
    changed_.push_back(std::move(noted_.back()));
    noted_.pop_back();
  }
  Apply out;
  if (!changed_.empty()) {
    out = std::move(changed_.back());
    changed_.pop_back();
    waiting_.erase(out.node());
    return out;
  }
  while (at_ < all_.size()) {
    out = std::move(all_[at_++]);
    // A node that was noted meanwhile has had its turn.
    if (waiting_.erase(out.node())) return out;
  }
  return Apply();
}

void WorkList::note(ApplyNode* node) {
  // Nodes of the pass that it has not reached yet wait there: what they need is simplified first.
  if (waiting_.insert(node).second) noted_.push_back(Apply::of(node));
}

void WorkList::note_above(const FunctionGraph& graph, ApplyNode* node) {
  std::vector<ApplyNode*> level{node};
  std::size_t noted = 0;
  for (int i = 0; i < levels_ && !level.empty(); ++i) {
    std::vector<ApplyNode*> above;
    for (ApplyNode* below : level)
      for (std::size_t output = 0; output < below->output_count; ++output)
        for (const Client& client : graph.clients(Variable::of(&below->outputs[output]))) {
          if (!client.node) continue;
          if (++noted > most_noted_above) return;
          note(client.node);
          above.push_back(client.node);
        }
    level = std::move(above);
  }
}

void WorkList::on_import(FunctionGraph&, const Apply& node, std::string_view) { note(node.node()); }

void WorkList::on_change_input(FunctionGraph& graph, const Client& client, const Variable& before, const Variable&,
                               std::string_view) {
  if (client.node) {
    note(client.node);
    note_above(graph, client.node);
  }
  // Rules that want a variable to have one use may now apply to the use that is left.
  const std::span<const Client> left = graph.clients(before);
  if (left.size() == 1 && left[0].node) note(left[0].node);
}

}  // namespace bitale::rewriting
