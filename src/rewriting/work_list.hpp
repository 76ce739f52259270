// The nodes that rules have yet to see. It watches the graph: what a change brings or touches comes next, and so do the
// nodes a few levels above, since rules look below their root.
#pragma once

#include <unordered_set>
#include <vector>

#include "bitale/graph/function_graph.hpp"

namespace bitale::rewriting {

class WorkList final : public Feature {
 public:
  // `levels`: how far above a changed node rules may notice.
  explicit WorkList(int levels) : levels_(levels) {}
  std::string name() const override { return "rewriting work list"; }

  // All nodes of the graph, inputs first.
  void add_all(const FunctionGraph& graph);
  void add(const Apply& node) { note(node.node()); }
  // The next node, or a null one. It may have left the graph.
  Apply next();

  void on_import(FunctionGraph& graph, const Apply& node, std::string_view reason) override;
  void on_change_input(FunctionGraph& graph, const Client& client, const Variable& before, const Variable& after,
                       std::string_view reason) override;

 private:
  void note(ApplyNode* node);
  void note_above(const FunctionGraph& graph, ApplyNode* node);

  int levels_;
  std::vector<Apply> all_;  // the pass over the graph, and where it stands
  std::size_t at_ = 0;
  std::vector<Apply> noted_;    // by the change under way, first come first
  std::vector<Apply> changed_;  // a stack: goes before the pass
  std::unordered_set<const ApplyNode*> waiting_;
};

}  // namespace bitale::rewriting
