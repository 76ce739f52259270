// The worklist of nodes to which rules are yet to be applied, as slots of the graph. It observes the graph: nodes that
// a change adds or touches come next, as do the nodes a few levels above, since rules look below their root.
#pragma once

#include <cstdint>
#include <vector>

#include "bitale/core/text.hpp"
#include "bitale/graph/function_graph.hpp"

namespace bitale::rewriting {

class WorkList final : public Feature {
 public:
  // `levels`: how many levels below their root rules look, and thus how far above a changed node they may be affected.
  // `number` tells apart those of a graph: a function of the graph, run between the rules, may have one of its own.
  WorkList(int levels, std::size_t number) : levels_(levels), name_(cat("rewriting work list ", number)) {}
  std::string name() const override { return name_; }

  // All nodes of the graph, inputs first.
  void add_all(FunctionGraph& graph);
  // The wider surroundings of all changes since the last call of add_all or add_changed, inputs first.
  void add_changed(const FunctionGraph& graph);
  void add(const FunctionGraph& graph, const Apply& node) { note(std::uint32_t(graph.slot(node.node()))); }
  // A number that grows with every change of the graph.
  std::size_t changes() const { return changes_; }
  // The next node, or a null one.
  Apply next(const FunctionGraph& graph);

  void on_import(FunctionGraph& graph, const Apply& node, std::string_view reason) override;
  void on_change_input(FunctionGraph& graph, const Client& client, const Variable& before, const Variable& after,
                       std::string_view reason) override;

 private:
  using Slots = std::vector<std::uint32_t>;
  bool set_waiting(std::uint32_t slot);  // returns whether it was not waiting
  bool take(std::uint32_t slot);         // returns whether it was waiting
  void note(std::uint32_t slot);
  void note_above(const FunctionGraph& graph, ApplyNode* node);

  int levels_;
  std::string name_;
  std::size_t changes_ = 0;
  Slots all_;  // the pass over the graph, and its position
  std::size_t at_ = 0;
  Slots noted_;    // by the change in progress, in order
  Slots changed_;  // a stack, visited before the pass
  Slots touched_;  // since the pass began; may repeat
  // By slot. Each slot that is set is in one of the lists. A removed node may still be listed, and its slot may by now
  // belong to another node, which is then visited instead.
  std::vector<char> waiting_;
};

}  // namespace bitale::rewriting
