// The nodes that rules have yet to see, as slots of the graph. It watches the graph: what a change brings or touches
// comes next, and so do the nodes a few levels above, since rules look below their root.
#pragma once

#include <cstdint>
#include <vector>

#include "bitale/graph/function_graph.hpp"

namespace bitale::rewriting {

class WorkList final : public Feature {
 public:
  // `levels`: how far above a changed node rules may notice.
  explicit WorkList(int levels) : levels_(levels) {}
  std::string name() const override { return "rewriting work list"; }

  // All nodes of the graph, inputs first.
  void add_all(FunctionGraph& graph);
  // The nodes far around all that changed since the last call of add_all or add_changed, inputs first.
  void add_changed(const FunctionGraph& graph);
  void add(const FunctionGraph& graph, const Apply& node) { note(std::uint32_t(graph.slot(node.node()))); }
  // The next node, or a null one.
  Apply next(const FunctionGraph& graph);

  void on_import(FunctionGraph& graph, const Apply& node, std::string_view reason) override;
  void on_change_input(FunctionGraph& graph, const Client& client, const Variable& before, const Variable& after,
                       std::string_view reason) override;

 private:
  using Slots = std::vector<std::uint32_t>;
  bool set_waiting(std::uint32_t slot);  // whether it was not
  bool take(std::uint32_t slot);         // whether it was waiting
  void note(std::uint32_t slot);
  void note_above(const FunctionGraph& graph, ApplyNode* node);

  int levels_;
  Slots all_;  // the pass over the graph, and where it stands
  std::size_t at_ = 0;
  Slots noted_;    // by the change under way, first come first
  Slots changed_;  // a stack: goes before the pass
  Slots touched_;  // since the pass began; may repeat
  // By slot. Each that is set stands in one of the lists. A node that has left may stand there still, and another one
  // may have its slot by now: it is then that one's turn.
  std::vector<char> waiting_;
};

}  // namespace bitale::rewriting
