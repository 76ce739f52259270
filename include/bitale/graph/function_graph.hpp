// FunctionGraph: a private copy of a graph that may be changed, with client lists and hooks (Features). Equal nodes
// (equal op, same inputs) and equal constants are merged as they are imported and after every change: merging is an
// invariant. Replacement is a transaction: replace, validate, or roll back with the reason.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/graph/traversal.hpp"

namespace bitale {

class Changes;  // the log of one replacement, step by step
class FunctionGraph;
class Transaction;

// A feature of the same name is already attached to the graph.
class AlreadyThere : public ValueError {
 public:
  using ValueError::ValueError;
};

// A use of a variable: input `index` of `node`, or output `index` of the graph when node is null.
struct Client {
  ApplyNode* node = nullptr;
  int index = 0;
  bool operator==(const Client&) const = default;
};

// Hooks called as the graph changes. The defaults do nothing. An exception from a hook undoes the change, and errors
// then name the feature; on_validate throws InconsistencyError to refuse. A hook may not change the graph.
class Feature {
 public:
  virtual ~Feature() = default;
  virtual std::string name() const = 0;
  virtual void on_attach(FunctionGraph&) {}
  virtual void on_detach(FunctionGraph&) {}
  virtual void on_import(FunctionGraph&, const Apply&, std::string_view /*reason*/) {}
  virtual void on_prune(FunctionGraph&, const Apply&, std::string_view /*reason*/) {}
  virtual void on_change_input(FunctionGraph&, const Client&, const Variable& /*before*/, const Variable& /*after*/,
                               std::string_view /*reason*/) {}
  virtual void on_validate(FunctionGraph&) {}
  // Called when the change is complete. A feature that keeps changes receives them, and can undo them
  // (FunctionGraph::undo).
  virtual bool keeps_changes() const { return false; }
  virtual void on_commit(FunctionGraph&, const std::shared_ptr<Changes>&) {}
  // Extra edges for the topological order: pairs (later, earlier).
  virtual std::vector<std::pair<ApplyNode*, ApplyNode*>> orderings(FunctionGraph&) { return {}; }
};

// What a change does with leaves that the graph does not know: raise a MissingInputError, or make them inputs.
enum class UnknownLeaves { refuse, add };
// Whether a graph has nodes of its own, or takes those of its outputs.
enum class Clone : bool { No, Yes };

class FunctionGraph {
 public:
  // Clones the graph. Inputs are found when none are given. MissingInputError when outputs need a leaf that is neither
  // an input, a constant nor listed. Shared variables must be among `inputs` (function() lists them).
  FunctionGraph(Variables inputs, Variables outputs, Clone clone = Clone::Yes);
  explicit FunctionGraph(Variables outputs);
  ~FunctionGraph();
  FunctionGraph(FunctionGraph&&) noexcept;
  FunctionGraph& operator=(FunctionGraph&&) noexcept;

  const Variables& inputs() const;
  const Variables& outputs() const;
  // The copies of the variables from which the graph was created.
  VariableMap originals() const;  // original -> own; computed at every call
  std::size_t node_count() const;
  bool contains(const Apply& node) const;
  bool contains(const Variable& variable) const;
  std::span<const Client> clients(const Variable& variable) const;
  // Nodes in topological order, stable between calls when nothing changed.
  std::vector<Apply> toposort() const;

  // Every node has a small number, its slot, which may be reused once the node was removed. For side tables of the
  // graph.
  std::size_t slot(const ApplyNode* node) const;  // for a node of this graph
  Apply at_slot(std::size_t slot) const;          // null where there is none
  std::size_t slot_count() const;
  // As toposort(), regardless of features. Memoized until the graph changes.
  const std::vector<std::uint32_t>& slots_in_order();
  // Sorts slots so that inputs precede their clients, using only what the graph stores for each node.
  void sort_slots(std::vector<std::uint32_t>& slots) const;

  // Replaces every use of `before`. The replacement's type must be `before`'s or a sub-type (TypeError); unknown leaves
  // raise MissingInputError. On any error the graph is unchanged. A no-op when both are the same, also after merging.
  // Uses of `before` inside the new nodes are kept (x may be replaced by f(x)). New nodes belong to the graph from then
  // on. Returns whether anything changed.
  bool replace(const Variable& before, const Variable& after, std::string_view reason,
               UnknownLeaves unknown = UnknownLeaves::refuse);
  // All or nothing; in order, skipping pairs that an earlier one made superfluous.
  bool replace_all(std::span<const std::pair<Variable, Variable>> pairs, std::string_view reason,
                   UnknownLeaves unknown = UnknownLeaves::refuse);
  bool change_node_input(const Client& client, const Variable& after, std::string_view reason,
                         UnknownLeaves unknown = UnknownLeaves::refuse);
  void add_output(const Variable& output, std::string_view reason = "new output",
                  UnknownLeaves unknown = UnknownLeaves::refuse);
  // ValueError for a constant, a computed variable, or one that is an input already.
  void add_input(const Variable& leaf, std::string_view reason = "new input");
  // The outputs behind it move up. IndexError where there is none.
  void remove_output(std::size_t at, std::string_view reason = "remove output");
  // Also removes everything that needs it, including outputs of the graph.
  void remove_input(std::size_t at, std::string_view reason = "remove input");
  void remove_node(const Apply& node, std::string_view reason = "remove node");

  // Undoes the latest change, or redoes it; features are notified. InconsistencyError when the graph is not in the
  // state that the change led to (came from).
  void undo(Changes& changes);
  void redo(Changes& changes);

  void attach(std::shared_ptr<Feature> feature);  // AlreadyThere when one of the same name is attached
  void detach(const Feature& feature);
  std::span<const std::shared_ptr<Feature>> features() const;
  // The attached feature of that class, or nullptr.
  template <class F>
  F* feature() const {
    for (auto& f : features())
      if (auto* found = dynamic_cast<F*>(f.get())) return found;
    return nullptr;
  }

  // InternalError when clients, merging or ownership are not as they should be. For tests.
  void check_integrity() const;
  FunctionGraph clone() const;

  struct State;  // the implementation

 private:
  State& change();
  std::unique_ptr<State> state_;
};

}  // namespace bitale
