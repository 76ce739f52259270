// Records which expressions rewriting has treated as equal: each replacement with copies of the expression before and
// after, as the graph was at that moment. Copies are hash-consed: equal expressions on the same leaves are one, so the
// copies of the graph and of all its earlier states are little larger than the graph.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "bitale/graph/function_graph.hpp"

namespace bitale {

struct Replacement {
  Variable before, after;  // copies, on the graph's inputs
  std::string reason;
};

class EquivalenceTracker final : public Feature {
 public:
  std::string name() const override { return "equivalence tracker"; }
  void on_attach(FunctionGraph& graph) override { graph_ = &graph; }
  void on_prune(FunctionGraph& graph, const Apply& node, std::string_view reason) override;
  void on_change_input(FunctionGraph& graph, const Client& client, const Variable& before, const Variable& after,
                       std::string_view reason) override;
  bool keeps_changes() const override { return true; }
  void on_commit(FunctionGraph& graph, const std::shared_ptr<Changes>& changes) override;

  // The copy of an expression of the graph as it is now.
  Variable copy_of(const Variable& variable);
  const std::vector<Replacement>& replacements() const { return committed_; }
  // The events, in order: two runs of the same rewrites on equal graphs give the same list.
  const std::vector<std::string>& events() const { return events_; }

 private:
  Apply copy_of_node(ApplyNode* node);
  Apply consed(const Apply& original, Variables inputs);
  void forget_above(ApplyNode* node);

  FunctionGraph* graph_ = nullptr;
  std::unordered_map<const ApplyNode*, Apply> copies_;
  std::unordered_multimap<std::size_t, Apply> known_;  // all copies, by op and inputs
  std::vector<Replacement> pending_, committed_;
  std::vector<std::string> events_;
  const VariableNode *last_before_ = nullptr, *last_after_ = nullptr;  // of the current change
};

}  // namespace bitale
