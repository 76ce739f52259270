// The features of a FunctionGraph: what can be attached to one to watch, record, check or refuse its changes. Names and
// roles are those of PyTensor's pytensor.graph.features and pytensor.graph.destroyhandler. Two of PyTensor's features
// are invariants of FunctionGraph here: the merging of equal nodes, and the transfer of a variable's name to its
// replacement.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "bitale/graph/function_graph.hpp"

namespace bitale {

// ---- base -----------------------------------------------------------------------------------------------------------

// A feature that receives the nodes present at attachment as imports, and those left at detachment as pruned.
class Bookkeeper : public Feature {
 public:
  void on_attach(FunctionGraph& graph) override;
  void on_detach(FunctionGraph& graph) override;
};

// Calls the given functions; those that are left out do nothing.
class DispatchingFeature final : public Feature {
 public:
  struct Callbacks {
    std::function<void(FunctionGraph&)> on_attach = {}, on_detach = {}, on_validate = {};
    std::function<void(FunctionGraph&, const Apply&, std::string_view reason)> on_import = {}, on_prune = {};
    std::function<void(FunctionGraph&, const Client&, const Variable& before, const Variable& after,
                       std::string_view reason)>
        on_change_input = {};
  };
  explicit DispatchingFeature(Callbacks callbacks, std::string name = "dispatching feature")
      : callbacks_(std::move(callbacks)), name_(std::move(name)) {}
  std::string name() const override { return name_; }
  void on_attach(FunctionGraph& graph) override;
  void on_detach(FunctionGraph& graph) override;
  void on_import(FunctionGraph& graph, const Apply& node, std::string_view reason) override;
  void on_prune(FunctionGraph& graph, const Apply& node, std::string_view reason) override;
  void on_change_input(FunctionGraph& graph, const Client& client, const Variable& before, const Variable& after,
                       std::string_view reason) override;
  void on_validate(FunctionGraph& graph) override;

 private:
  Callbacks callbacks_;
  std::string name_;
};

// ---- history --------------------------------------------------------------------------------------------------------

// Reverts the graph to earlier states.
class History final : public Feature {
 public:
  std::string name() const override { return "history"; }
  bool keeps_changes() const override { return true; }
  void on_commit(FunctionGraph& graph, const std::shared_ptr<Changes>& changes) override;

  // The current state.
  std::size_t checkpoint() const { return changes_.size(); }
  // Reverts the changes made since; reverted changes are forgotten. ValueError for a state that no longer exists.
  void revert(FunctionGraph& graph, std::size_t checkpoint);

 private:
  std::vector<std::shared_ptr<Changes>> changes_;
};

// Moves the graph to any state since the feature was attached, forwards and back: state 0 is the one at attachment,
// each change leads to the next. A change from elsewhere, in a state that is not the last, drops the states after it.
class FullHistory final : public Feature {
 public:
  // `watch`, if given, is called after every step that is taken through the states.
  explicit FullHistory(std::function<void(FunctionGraph&)> watch = {}) : watch_(std::move(watch)) {}
  std::string name() const override { return "full history"; }
  bool keeps_changes() const override { return true; }
  void on_commit(FunctionGraph& graph, const std::shared_ptr<Changes>& changes) override;

  std::size_t position() const { return position_; }
  std::size_t last() const { return changes_.size(); }
  // Why state `position` was reached from the previous one: the rule's name. IndexError outside 1 ... last().
  const std::string& reason(std::size_t position) const;
  void go_to(FunctionGraph& graph, std::size_t position);  // IndexError
  void start(FunctionGraph& graph) { go_to(graph, 0); }
  void end(FunctionGraph& graph) { go_to(graph, last()); }
  // Returns whether there was such a state.
  bool next(FunctionGraph& graph);
  bool previous(FunctionGraph& graph);

 private:
  std::function<void(FunctionGraph&)> watch_;
  std::vector<std::shared_ptr<Changes>> changes_;
  std::size_t position_ = 0;
};

// ---- checks ---------------------------------------------------------------------------------------------------------

// Validates the graph as it is with every feature. The first refusal is thrown, with the feature's name.
void validate(FunctionGraph& graph);
bool is_consistent(FunctionGraph& graph);

// User-defined checks, run before every change is committed. A check refuses by throwing.
class Validator final : public Feature {
 public:
  using Check = std::function<void(FunctionGraph&)>;
  std::string name() const override { return "validator"; }
  // ValueError when there already is a check of that name.
  void add(std::string check_name, Check check);
  void on_validate(FunctionGraph& graph) override;

 private:
  std::vector<std::pair<std::string, Check>> checks_;
};

// A node that a change should have removed is still in the graph.
class ReplacementDidNotRemoveError : public InconsistencyError {
 public:
  using InconsistencyError::InconsistencyError;
};

// PyTensor's ReplaceValidate: replacements that all features accept, or none at all. Every change of a FunctionGraph
// has this property; these functions can also report on stderr what they do.
enum class Verbose : bool { No, Yes };
bool replace_validate(FunctionGraph& graph, const Variable& before, const Variable& after, std::string_view reason,
                      Verbose verbose = Verbose::No);
bool replace_all_validate(FunctionGraph& graph, std::span<const std::pair<Variable, Variable>> pairs,
                          std::string_view reason, Verbose verbose = Verbose::No);
// As above, but also rolled back, with ReplacementDidNotRemoveError, when one of the nodes is still in the graph.
bool replace_all_validate_remove(FunctionGraph& graph, std::span<const std::pair<Variable, Variable>> pairs,
                                 std::span<const Apply> remove, std::string_view reason, Verbose verbose = Verbose::No);

// Every imported node must know the user's line from which it derives.
class CheckStackTrace final : public Feature {
 public:
  enum class Policy { Warn, Raise };
  explicit CheckStackTrace(Policy policy = Policy::Raise) : policy_(policy) {}
  std::string name() const override { return "check stack trace"; }
  void on_import(FunctionGraph& graph, const Apply& node, std::string_view reason) override;
  Policy policy() const { return policy_; }
  std::size_t missing() const { return missing_; }  // imported nodes without one so far

 private:
  Policy policy_;
  std::size_t missing_ = 0;
};

// ---- watching -------------------------------------------------------------------------------------------------------

// Finds the nodes of an op.
class NodeFinder final : public Bookkeeper {
 public:
  std::string name() const override { return "node finder"; }
  void on_import(FunctionGraph& graph, const Apply& node, std::string_view reason) override;
  void on_prune(FunctionGraph& graph, const Apply& node, std::string_view reason) override;
  // The nodes whose op equals the given one, in no particular order.
  std::vector<Apply> query(const Op& op) const;
  // The nodes whose op has that name.
  std::vector<Apply> query(std::string_view op_name) const;

 private:
  std::unordered_map<std::string, std::unordered_set<ApplyNode*>> by_name_;
};

// Writes a line for every event that it receives.
class PrintListener final : public Feature {
 public:
  explicit PrintListener(std::function<void(const std::string& line)> write = {});  // default: to stderr
  std::string name() const override { return "print listener"; }
  void on_attach(FunctionGraph& graph) override;
  void on_detach(FunctionGraph& graph) override;
  void on_import(FunctionGraph& graph, const Apply& node, std::string_view reason) override;
  void on_prune(FunctionGraph& graph, const Apply& node, std::string_view reason) override;
  void on_change_input(FunctionGraph& graph, const Client& client, const Variable& before, const Variable& after,
                       std::string_view reason) override;

 private:
  std::function<void(const std::string&)> write_;
};

// Whether anything changed, and how many nodes were imported, since the last reset. A change that was rolled back
// counts.
class ChangeTracker final : public Feature {
 public:
  std::string name() const override { return "change tracker"; }
  void on_import(FunctionGraph& graph, const Apply& node, std::string_view reason) override;
  void on_prune(FunctionGraph& graph, const Apply& node, std::string_view reason) override;
  void on_change_input(FunctionGraph& graph, const Client& client, const Variable& before, const Variable& after,
                       std::string_view reason) override;
  bool changed() const { return changed_; }
  std::size_t imported() const { return imported_; }
  void reset();

 private:
  bool changed_ = false;
  std::size_t imported_ = 0;
};

// ---- memory ---------------------------------------------------------------------------------------------------------
// A variable's memory is its own, or that of the variable that it views (Op::view_of). A node that destroys an input
// (Op::destroys) leaves no value to read there: its result counts as new memory.

// Keeps a list of the nodes that destroy an input.
class DestroyerBook : public Bookkeeper {
 public:
  void on_import(FunctionGraph& graph, const Apply& node, std::string_view reason) override;
  void on_prune(FunctionGraph& graph, const Apply& node, std::string_view reason) override;
  bool has_destroyers() const { return !numbers_.empty(); }
  // In order of import.
  std::vector<Apply> destroyers() const;

 private:
  std::unordered_map<ApplyNode*, std::size_t> numbers_;
  std::size_t next_ = 0;
};

// Allows nodes to destroy what they read, as long as the result is the same. InconsistencyError, at attachment and on
// every change, when no order of the nodes keeps a destroyed value from being read afterwards: two nodes destroy the
// same memory, a constant or an output of the graph would be destroyed, a node reads through another input what it
// destroys, or a reader needs the destroyer's result. The graph's toposort puts readers before destroyers. A change of
// a graph that contains destroyers costs a traversal of the graph.
class DestroyHandler final : public DestroyerBook {
 public:
  std::string name() const override { return "destroy handler"; }
  void on_attach(FunctionGraph& graph) override;
  void on_validate(FunctionGraph& graph) override;
  std::vector<std::pair<ApplyNode*, ApplyNode*>> orderings(FunctionGraph& graph) override;
  using DestroyerBook::destroyers;
  // The nodes that destroy the variable's memory.
  std::vector<Apply> destroyers(const Variable& variable) const;
};

// Refuses changes after which one of these variables would be destroyed; usually the inputs that callers keep.
class Supervisor final : public DestroyerBook {
 public:
  explicit Supervisor(const Variables& is_protected) : protected_(is_protected) {}
  std::string name() const override { return "supervisor"; }
  const Variables& protected_variables() const { return protected_; }
  void on_validate(FunctionGraph& graph) override;

 private:
  Variables protected_;
};

// Refuses changes after which one of these outputs would be written over another variable's memory.
class NoOutputFromInplace final : public Feature {
 public:
  explicit NoOutputFromInplace(std::vector<std::size_t> outputs) : outputs_(std::move(outputs)) {}
  std::string name() const override { return "no output from in-place"; }
  void on_attach(FunctionGraph& graph) override;  // IndexError: there is no such output
  void on_validate(FunctionGraph& graph) override;

 private:
  std::vector<std::size_t> outputs_;
};

// Refuses changes after which an output of the graph would be stored in the destroyed memory of one of these inputs.
class NoOutputInplaceOnInput final : public Feature {
 public:
  explicit NoOutputInplaceOnInput(std::vector<std::size_t> inputs) : inputs_(std::move(inputs)) {}
  std::string name() const override { return "no output in-place on input"; }
  void on_attach(FunctionGraph& graph) override;  // IndexError: there is no such input
  void on_validate(FunctionGraph& graph) override;

 private:
  std::vector<std::size_t> inputs_;
};

}  // namespace bitale
