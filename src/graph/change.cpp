// Undo, redo and notification, with one overload per kind of change. If a feature's callback fails, the other features
// are still notified.
#include "graph/change.hpp"

#include <exception>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale {

namespace {

using State = FunctionGraph::State;
using namespace change;

struct Undo {
  State& graph;
  void operator()(InputSet& it) const { graph.assign(it.client(), it.before); }
  void operator()(NodeAdded& it) const {
    it.rank = graph.record(it.node.node()).rank;  // new nodes get their final rank after their import
    graph.remove_node(it.node);
  }
  void operator()(NodeRemoved& it) const { graph.add_node(it.node, it.serial, it.rank); }
  void operator()(InputsResolved& it) const { it.node.node()->inputs = it.before; }
  void operator()(RankSet& it) const { graph.record(it.node).rank = it.before; }
  void operator()(Keyed& it) const { it.now ? graph.unkey(it.node) : graph.key(it.node); }
  void operator()(Named& it) const { it.variable.set_name({}); }
  void operator()(Unguarded& it) const { it.variable.tag().is_guarded = true; }
  void operator()(Retyped& it) const { it.variable.node()->type = it.before; }
  void operator()(OutputAdded&) const { graph.remove_last_output(); }
  void operator()(OutputRemoved& it) const { graph.insert_output(it.at, it.output); }
  void operator()(InputAdded& it) const { graph.remove_input(it.at); }
  void operator()(InputRemoved& it) const { graph.insert_input(it.at, it.input); }
};

struct Redo {
  State& graph;
  void operator()(InputSet& it) const { graph.assign(it.client(), it.after); }
  void operator()(NodeAdded& it) const { graph.add_node(it.node, it.serial, it.rank); }
  void operator()(NodeRemoved& it) const { graph.remove_node(it.node); }
  void operator()(InputsResolved& it) const { it.node.node()->inputs = it.after; }
  void operator()(RankSet& it) const { graph.record(it.node).rank = it.after; }
  void operator()(Keyed& it) const { it.now ? graph.key(it.node) : graph.unkey(it.node); }
  void operator()(Named& it) const { it.variable.set_name(it.name); }
  void operator()(Unguarded& it) const { it.variable.tag().is_guarded = false; }
  void operator()(Retyped& it) const { it.variable.node()->type = it.after; }
  void operator()(OutputAdded& it) const { graph.add_output(it.output); }
  void operator()(OutputRemoved& it) const { graph.remove_output(it.at); }
  void operator()(InputAdded& it) const { graph.insert_input(it.at, it.input); }
  void operator()(InputRemoved& it) const { graph.remove_input(it.at); }
};

// Calls a callback of each feature, then rethrows the first exception, if any.
template <class Call>
void notify_each(State& graph, std::size_t count, Call&& call) {
  std::exception_ptr failure;
  for (std::size_t i = 0; i < count && i < graph.features.size(); ++i) {
    try {
      call(*graph.features[i]);
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

struct Notifier {
  State& graph;
  std::string_view reason;
  std::size_t count;
  void imported(const Apply& node) const {
    notify_each(graph, count, [&](Feature& f) { f.on_import(*graph.self, node, reason); });
  }
  void pruned(const Apply& node) const {
    notify_each(graph, count, [&](Feature& f) { f.on_prune(*graph.self, node, reason); });
  }
  void changed(const Client& client, const Variable& before, const Variable& after) const {
    notify_each(graph, count, [&](Feature& f) { f.on_change_input(*graph.self, client, before, after, reason); });
  }
};

}  // namespace

void undo(State& graph, Change& change) { std::visit(Undo{graph}, change); }
void redo(State& graph, Change& change) { std::visit(Redo{graph}, change); }

static void notify_done(State& graph, const Change& change, std::string_view reason) {
  const Notifier notify{graph, reason, graph.features.size()};
  if (auto* set = std::get_if<InputSet>(&change)) notify.changed(set->client(), set->before, set->after);
  if (auto* added = std::get_if<NodeAdded>(&change)) notify.imported(added->node);
  if (auto* removed = std::get_if<NodeRemoved>(&change)) notify.pruned(removed->node);
}

void notify_undone(State& graph, const Change& change, std::string_view reason, std::size_t count) {
  const Notifier notify{graph, reason, count};
  if (auto* set = std::get_if<InputSet>(&change)) notify.changed(set->client(), set->after, set->before);
  if (auto* added = std::get_if<NodeAdded>(&change)) notify.pruned(added->node);
  if (auto* removed = std::get_if<NodeRemoved>(&change)) notify.imported(removed->node);
}

namespace {

// Excludes other changes during the replay.
class Replay {
 public:
  Replay(State& graph, const Changes& changes, std::uint64_t expected) : graph_(graph) {
    graph.require_quiet();
    if (graph.version != expected)
      throw InconsistencyError(cat("the graph was changed since: it is not in the state that `", changes.reason,
                                   "` can be undone from or repeated in"));
    graph.changing = true;
  }
  ~Replay() { graph_.changing = false; }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  template <class Call>
  void notify(Call&& call) {
    try {
      call();
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
    }
  }
  // The ranks in the log may no longer be consistent with those of other nodes.
  void finish(std::uint64_t version) {
    graph_.version = version;
    graph_.spread_ranks();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  State& graph_;
  std::exception_ptr failure_;
};

}  // namespace

void undo_all(State& graph, Changes& changes) {
  Replay replay(graph, changes, changes.after);
  for (auto step = changes.list.rbegin(); step != changes.list.rend(); ++step) {
    if (std::holds_alternative<RankSet>(*step)) continue;
    undo(graph, *step);
    replay.notify([&] { notify_undone(graph, *step, "undo", graph.features.size()); });
  }
  replay.finish(changes.before);
}

void redo_all(State& graph, Changes& changes) {
  Replay replay(graph, changes, changes.before);
  for (auto& step : changes.list) {
    if (std::holds_alternative<RankSet>(step)) continue;
    redo(graph, step);
    replay.notify([&] { notify_done(graph, step, changes.reason); });
  }
  replay.finish(changes.after);
}

bool is_notified(const Change& change) {
  return std::holds_alternative<InputSet>(change) || std::holds_alternative<NodeAdded>(change) ||
         std::holds_alternative<NodeRemoved>(change);
}

}  // namespace bitale
