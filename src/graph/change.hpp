// Changes of a FunctionGraph as data: what a transaction did, step by step, with what is needed to undo and redo each
// step. A transaction that fails undoes its steps; a committed one hands them to the features that keep them (History).
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "graph/graph_state.hpp"

namespace bitale {

namespace change {

// An input of a node of the graph, or an output of the graph (user is null), was set to another variable.
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
// The inputs of a node being imported were replaced by the graph's own variables.
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
// An unnamed variable got a name.
struct Named {
  Variable variable;
  std::string name;
};
// The variable is from now on ignored by NanGuardMode.
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
struct OutputRemoved {
  std::size_t at;
  Variable output;
};
struct InputAdded {
  std::size_t at;
  Variable input;
};
struct InputRemoved {
  std::size_t at;
  Variable input;
};

}  // namespace change

using Change = std::variant<change::InputSet, change::NodeAdded, change::NodeRemoved, change::InputsResolved,
                            change::RankSet, change::Keyed, change::Named, change::Unguarded, change::Retyped,
                            change::OutputAdded, change::OutputRemoved, change::InputAdded, change::InputRemoved>;
using ChangeList = std::vector<Change>;

// The changes of one committed transaction, from one state of the graph to another.
class Changes {
 public:
  std::string reason;
  std::uint64_t before = 0, after = 0;  // versions of the graph
  ChangeList list;
};

// Undoes (redoes) all steps and notifies the features. InconsistencyError unless the graph is in the state `after`
// (`before`). Exceptions of features are rethrown at the end.
void undo_all(FunctionGraph::State& graph, Changes& changes);
void redo_all(FunctionGraph::State& graph, Changes& changes);

// Steps must be undone in reverse order, and redone in order.
void undo(FunctionGraph::State& graph, Change& change);
void redo(FunctionGraph::State& graph, Change& change);

// Notifies the first `count` features that the change was undone.
void notify_undone(FunctionGraph::State& graph, const Change& change, std::string_view reason, std::size_t count);
// Whether features are notified of this kind of change.
bool is_notified(const Change& change);

}  // namespace bitale
