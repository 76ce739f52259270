// Changes of a FunctionGraph as data: what a transaction did, step by step, with what is needed to undo and redo each
// step. A transaction that fails undoes its steps; a committed one hands them to the features that keep them (History).
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "graph/graph_state.hpp"

namespace bitale {

namespace change {

// An input of a node of the graph, or an output (no user), is another variable now.
struct InputSet {
  Apply user;  // kept alive
  int index;
  Variable before, after;
  Client client() const { return {user.node(), index}; }
};
struct NodeAdded {
  Apply node;
  std::uint64_t serial;
  std::int64_t rank;
};
struct NodeRemoved {
  Apply node;
  std::uint64_t serial;
  std::int64_t rank;
};
// A node on its way in was given the graph's own variables.
struct InputsResolved {
  Apply node;
  Variables before, after;
};
struct RankSet {
  ApplyNode* node;
  std::int64_t before, after;
};
struct Keyed {
  ApplyNode* node;
  bool now;
};
// A variable without a name got one.
struct Named {
  Variable variable;
  std::string name;
};
// NanGuardMode is not to look at a variable any more.
struct Unguarded {
  Variable variable;
};
struct Retyped {
  Variable variable;
  Type before, after;
};
struct OutputAdded {
  Variable output;
};

}  // namespace change

using Change =
    std::variant<change::InputSet, change::NodeAdded, change::NodeRemoved, change::InputsResolved, change::RankSet,
                 change::Keyed, change::Named, change::Unguarded, change::Retyped, change::OutputAdded>;
using ChangeList = std::vector<Change>;

// What one committed transaction did: it led from one state of the graph to another.
class Changes {
 public:
  std::string reason;
  std::uint64_t before = 0, after = 0;  // versions of the graph
  ChangeList list;
};

// All steps, and the features are told. InconsistencyError unless the graph is in the state `after` (`before`). What a
// feature throws is passed on when all is done.
void undo_all(FunctionGraph::State& graph, Changes& changes);
void redo_all(FunctionGraph::State& graph, Changes& changes);

// Undoing is for the latest step not undone yet, redoing for the earliest one that is.
void undo(FunctionGraph::State& graph, Change& change);
void redo(FunctionGraph::State& graph, Change& change);

// Tells the first `count` features that the change was undone.
void tell_undone(FunctionGraph::State& graph, const Change& change, std::string_view reason, std::size_t count);
// Whether features are told of such a change.
bool is_told(const Change& change);

}  // namespace bitale
