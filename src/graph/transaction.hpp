// Transaction: an atomic change of a FunctionGraph. Every elementary step is logged, so that it can be undone
// (change.hpp). After the change, nodes that have become equal are merged, unused nodes are dropped, and the features
// are asked to validate the result.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bitale/core/error.hpp"
#include "graph/change.hpp"
#include "graph/pointer_map.hpp"

namespace bitale {

class Transaction {
 public:
  // Without a log (for a graph under construction) there is no rollback.
  enum class Log { Yes, No };
  Transaction(FunctionGraph::State& graph, std::string_view reason, Log log = Log::Yes);
  ~Transaction();  // rolls back unless committed
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // Imports the nodes that the variable needs; returns the graph's own variable for it.
  Variable import(const Variable& v);
  void add_output(const Variable& v);
  void remove_output(std::size_t at);
  void add_input(const Variable& leaf);
  void remove_input(std::size_t at);  // which no output depends on
  // From now on, leaves that the graph does not know become inputs.
  void accept_new_inputs() { accepts_inputs_ = true; }
  // For a graph under construction: imports copies of everything that the outputs need, up to the variables in
  // `inputs`, which map to the graph's own variables. Pairs of variables and their copies are added to `originals`.
  using Originals = std::vector<std::pair<Variable, Variable>>;
  Variables copy_in(std::span<const Variable> outputs, const PointerMap<VariableNode*>& inputs, Originals& originals);
  // Whether anything changed.
  bool replace(const Variable& before, const Variable& after);
  bool change_input(const Client& client, const Variable& after);
  // The current variable in place of `v`, after merges of equal nodes.
  Variable resolve(Variable v) const;

  void commit();  // asks the features first

 private:
  struct Imported {
    Variable variable;
    std::vector<ApplyNode*> created;  // the new nodes, each after those it needs
    PointerSet met;                   // existing nodes that replace nodes of the import
  };
  // New nodes inherit the line of the replaced node and continue its chain of rules.
  Imported import_variable(const Variable& v, const Provenance& replaced);
  void import_node(const Apply& node, const Provenance& replaced, Imported& into);
  Variable import_leaf(const Variable& leaf);
  ApplyNode* copy_in_node(const Apply& original, Variables inputs);
  void assign_ranks(const Imported& imported, std::int64_t target);
  void inherit_notes(const Variable& from, const Variable& to);
  void inherit_type(const Variable& from, const Variable& to);

  void set_input(const Client& client, const Variable& after);
  void order(ApplyNode* earlier, ApplyNode* later);
  void set_rank(ApplyNode* node, std::int64_t rank);
  void key(ApplyNode* node);
  void unkey(ApplyNode* node);
  void settle();
  void merge_equal_nodes();
  void merge(ApplyNode* gone, ApplyNode* kept);
  void prune_unused_nodes();
  void prune(const Apply& node);
  void roll_back() noexcept;
  void publish_log();

  // Adds the requested change to the refusal of a feature.
  void explain(Error& error, const Feature& feature) const;

  template <class Step>
  void note(Step&& step) {
    if (log_ == Log::Yes) log_list_.emplace_back(std::forward<Step>(step));
  }
  // If a feature fails, those after it are not notified of the latest change.
  template <class Call>
  void notify(Call&& call) {
    const std::size_t count = graph_.features.size();
    for (notified_ = 0; notified_ < count; ++notified_) call_feature(*graph_.features[notified_], call);
    notified_ = all_features;
  }
  template <class Call>
  void call_feature(Feature& feature, Call&& call) {
    try {
      call(feature);
    } catch (Error& error) {
      explain(error, feature);
      throw;
    }
  }

  static constexpr std::size_t all_features = std::size_t(-1);

  FunctionGraph::State& graph_;
  std::string_view reason_;
  Log log_;
  ChangeList log_list_;
  std::size_t notified_ = all_features;  // how many features know of the latest change
  Variable subject_;                     // the first variable to be replaced
  std::vector<Apply> touched_;           // nodes whose inputs changed
  std::vector<Apply> unused_;            // nodes that lost clients
  VariableMap forwarded_;                // merged variable -> its replacement
  bool committed_ = false;
  bool accepts_inputs_ = false;
};

}  // namespace bitale
