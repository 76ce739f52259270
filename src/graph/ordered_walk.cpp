// A depth-first walk on an explicit stack.
#include "graph/ordered_walk.hpp"

#include <unordered_map>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/op.hpp"
#include "graph/pointer_map.hpp"

namespace bitale {

namespace {

using Earlier = std::unordered_map<ApplyNode*, std::vector<ApplyNode*>>;  // node -> what must come before it

// A depth-first walk, inputs before extra predecessors. Extra edges may close a cycle, which plain graphs cannot have.
class OrderedWalk {
 public:
  explicit OrderedWalk(const Earlier& before) : before_(before) {}

  void from(ApplyNode* start) {
    enter(start);
    while (!stack_.empty()) {
      auto& [node, next] = stack_.back();
      if (ApplyNode* needed = predecessor(node, next++)) {
        enter(needed);
      } else if (next > predecessor_count(node)) {
        *states_.find(node) = State::Done;
        order.push_back(Apply::of(node));
        stack_.pop_back();
      }
    }
  }

  std::vector<Apply> order;

 private:
  enum class State : char { Open, Done };

  std::size_t predecessor_count(ApplyNode* node) const {
    auto extra = before_.find(node);
    return node->inputs.size() + (extra == before_.end() ? 0 : extra->second.size());
  }
  // nullptr for a leaf input and past the end.
  ApplyNode* predecessor(ApplyNode* node, std::size_t i) const {
    if (i < node->inputs.size()) return node->inputs[i].node()->owner;
    auto extra = before_.find(node);
    i -= node->inputs.size();
    return extra == before_.end() || i >= extra->second.size() ? nullptr : extra->second[i];
  }
  void enter(ApplyNode* node) {
    auto [state, is_new] = states_.insert(node, State::Open);
    if (is_new)
      stack_.push_back({node, 0});
    else if (*state == State::Open)
      throw InconsistencyError(
          cat("no order of the nodes satisfies the features: it would be circular at ", node->op->label()));
  }

  const Earlier& before_;
  PointerMap<State> states_;
  std::vector<std::pair<ApplyNode*, std::size_t>> stack_;
};

}  // namespace

std::vector<Apply> toposort_with_orderings(std::span<const Variable> outputs, const Orderings& orderings) {
  Earlier before;
  for (auto& [later, earlier] : orderings) before[later].push_back(earlier);
  OrderedWalk walk(before);
  for (const Variable& output : outputs)
    if (output.has_owner()) walk.from(output.node()->owner);
  return std::move(walk.order);
}

}  // namespace bitale
