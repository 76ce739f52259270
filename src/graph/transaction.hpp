// Transaction: a change of a FunctionGraph that happens completely or not at all. Every elementary step is written to a
// log with the step that undoes it. After the change, nodes that became equal are merged, nodes that nobody needs any
// more are dropped, and the features are asked whether they agree.
#pragma once

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph_state.hpp"
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
  void place(const Imported& imported, std::int64_t target);
  void inherit_name(const Variable& from, const Variable& to);
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

  template <class Undo>
  void note(Undo&& undo) {
    if (log_ == Log::Yes) undo_.emplace_back(std::forward<Undo>(undo));
  }
  template <class Call>
  void tell(Call&& call) {
    for (std::size_t i = 0; i < graph_.features.size(); ++i) call(*graph_.features[i]);
  }

  FunctionGraph::State& graph_;
  std::string_view reason_;
  Log log_;
  std::vector<std::function<void()>> undo_;
  std::vector<Apply> touched_;  // nodes whose inputs changed
  std::vector<Apply> unused_;   // nodes that lost clients
  VariableMap forwarded_;       // merged away -> what stands for it
  bool committed_ = false;
};

}  // namespace bitale
