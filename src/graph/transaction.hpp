// Transaction: a change of a FunctionGraph that happens completely or not at all. Every elementary step is written to a
// log, from which it can be undone (change.hpp). After the change, nodes that became equal are merged, nodes that
// nobody needs any more are dropped, and the features are asked whether they agree.
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
  // Without a log (for a graph that is being made) there is nothing to roll back to.
  enum class Log { Yes, No };
  Transaction(FunctionGraph::State& graph, std::string_view reason, Log log = Log::Yes);
  ~Transaction();  // rolls back unless committed
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // Takes in the nodes that the variable needs; returns the graph's own variable for it.
  Variable import(const Variable& v);
  void add_output(const Variable& v);
  // For a graph that is being made: takes in copies of what the outputs need, as far as the variables of `inputs`, in
  // whose place the graph's own stand. Variables and what stands for them are added to `originals`.
  using Originals = std::vector<std::pair<Variable, Variable>>;
  Variables copy_in(std::span<const Variable> outputs, const PointerMap<VariableNode*>& inputs, Originals& originals);
  // Whether anything changed.
  bool replace(const Variable& before, const Variable& after);
  bool change_input(const Client& client, const Variable& after);
  // What stands for a variable now that equal nodes were merged.
  Variable resolve(Variable v) const;

  void commit();  // asks the features first

 private:
  struct Imported {
    Variable variable;
    std::vector<ApplyNode*> created;  // nodes that are new, each after those it needs
    PointerSet met;                   // nodes that were there already and stand for nodes of the import
  };
  // New nodes inherit the line and go on with the rules of what they replace.
  Imported take_in(const Variable& v, const Provenance& replaced);
  void import_node(const Apply& node, const Provenance& replaced, Imported& into);
  Variable import_leaf(const Variable& leaf);
  ApplyNode* copy_in_node(const Apply& original, Variables inputs);
  void place(const Imported& imported, std::int64_t target);
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
  void hand_over();

  // The refusal of a feature, with what was asked for.
  void explain(Error& error, const Feature& feature) const;

  template <class Step>
  void note(Step&& step) {
    if (log_ == Log::Yes) log_list_.emplace_back(std::forward<Step>(step));
  }
  // Should one of them fail, those after it don't know of the latest change.
  template <class Call>
  void tell(Call&& call) {
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
  Variable subject_;                     // what was to be replaced first
  std::vector<Apply> touched_;           // nodes whose inputs changed
  std::vector<Apply> unused_;            // nodes that lost clients
  VariableMap forwarded_;                // merged away -> what stands for it
  bool committed_ = false;
};

}  // namespace bitale
