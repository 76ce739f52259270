// Changes of a FunctionGraph. Cycles are found without a walk over the graph: every node has a rank above the ranks of
// the nodes it needs. A new edge that respects the ranks cannot close a cycle; one that does not raises the ranks of
// the nodes behind it, which reaches the start of the edge exactly if there is a cycle. Ranks are initially far apart,
// so that new nodes fit between old ones and raising is rare.
#include "graph/transaction.hpp"

#include <algorithm>
#include <queue>
#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/provenance.hpp"
#include "graph/copy.hpp"
#include "graph/walk.hpp"

namespace bitale {

Transaction::Transaction(FunctionGraph::State& graph, std::string_view reason, Log log)
    : graph_(graph), reason_(reason), log_(log) {
  graph.require_quiet();
  graph.changing = true;
}

Transaction::~Transaction() {
  if (!committed_) roll_back();
  graph_.changing = false;
}

void Transaction::roll_back() noexcept {
  std::size_t notified = notified_;
  while (!log_list_.empty()) {
    Change step = std::move(log_list_.back());
    log_list_.pop_back();
    undo(graph_, step);
    if (!is_notified(step)) continue;
    try {
      notify_undone(graph_, step, "roll back", notified);
    } catch (...) {
      // A feature that fails when notified of an undone change cannot stop the rollback.
    }
    notified = all_features;
  }
}

void Transaction::commit() {
  for (auto& feature : graph_.features)
    call_feature(*feature, [&](Feature& asked) { asked.on_validate(*graph_.self); });
  committed_ = true;
  publish_log();
  if (graph_.raised > 4 * graph_.node_count() + 1000) graph_.spread_ranks();
}

// Passes the log to the features that keep it.
void Transaction::publish_log() {
  if (log_list_.empty()) return;
  const std::uint64_t before = std::exchange(graph_.version, graph_.next_version++);
  std::shared_ptr<Changes> changes;
  for (auto& feature : graph_.features) {
    if (!feature->keeps_changes()) continue;
    if (!changes)
      changes = std::make_shared<Changes>(std::string(reason_), before, graph_.version, std::move(log_list_));
    feature->on_commit(*graph_.self, changes);
  }
  log_list_.clear();
}

void Transaction::explain(Error& error, const Feature& feature) const {
  error.add("feature", feature.name());
  error.add("change", cat("`", reason_, "`", subject_.defined() ? cat(" on ", subject_.str()) : std::string()));
  if (!subject_.defined()) return;
  if (const Location where = subject_.where()) error.add("built at", where.str_with_callers());
}

Variable Transaction::resolve(Variable v) const {
  if (forwarded_.empty()) return v;
  for (auto found = forwarded_.find(v); found != forwarded_.end(); found = forwarded_.find(v)) v = found->second;
  return v;
}

// ---- import --------------------------------------------------------------------------------------------------------

namespace {

void require_value_type(const Variable& v) {
  if (v.is_null()) throw TypeError(cat("`", v.str(), "` has no value: ", v.why_null()));
  if (v.is_disconnected()) throw TypeError(cat("`", v.str(), "` has no value: it is disconnected"));
}

std::string names(const Variables& variables) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min<std::size_t>(variables.size(), 20); ++i) parts.push_back(variables[i].str());
  if (variables.size() > parts.size()) parts.push_back("...");
  return join(parts, ", ");
}

}  // namespace

Variable Transaction::import_leaf(const Variable& leaf) {
  require_value_type(leaf);
  if (graph_.leaves.contains(leaf.node())) return leaf;
  if (leaf.is_constant()) {
    Variable known = graph_.table.find_constant(leaf);
    return known.defined() ? known : leaf;
  }
  if (accepts_inputs_) {
    add_input(leaf);
    return leaf;
  }
  MissingInputError error(cat("the graph needs `", leaf.str(), "` of type ", leaf.type()->str(),
                              ", which is not one of its inputs [", names(graph_.inputs), "]"));
  if (Location where = leaf.where()) error.add("made at", where.str_with_callers());
  throw error;
}

namespace {

// Merges a new constant with an equal earlier input of the same node: neither is in the table yet.
Variable equal_constant(std::span<const Variable> inputs, const Variable& leaf) {
  if (!leaf.is_constant()) return leaf;
  for (const Variable& input : inputs)
    if (input.is_constant() && same_constant(*input.constant(), *leaf.constant())) return input;
  return leaf;
}

}  // namespace

void Transaction::import_node(const Apply& node, const Provenance& replaced, Imported& into) {
  ApplyNode* pointer = node.node();
  if (pointer->record)
    throw ValueError(cat("`", reason_, "`: ", pointer->op->label(), " belongs to another FunctionGraph; clone it"));
  Variables inputs;  // filled once an input changes
  bool changed = false;
  for (std::size_t i = 0; i < pointer->inputs.size(); ++i) {
    const Variable& input = pointer->inputs[i];
    Variable own = resolve(input);
    const std::span<const Variable> before = changed ? inputs : std::span(pointer->inputs.data(), i);
    if (!own.has_owner()) own = equal_constant(before, import_leaf(own));
    if (!changed && own.same_as(input)) continue;
    if (!std::exchange(changed, true)) inputs.assign(before.begin(), before.end());
    inputs.push_back(std::move(own));
  }
  if (changed) {
    note(change::InputsResolved{node, pointer->inputs, inputs});
    pointer->inputs = std::move(inputs);
  }
  if (ApplyNode* known = graph_.table.find(*pointer)) {
    for (std::size_t i = 0; i < node.output_count(); ++i) {
      Variable from = node.output(int(i)), to = Variable::of(&known->outputs[i]);
      inherit_notes(from, to);
      inherit_type(from, to);
      forwarded_.insert_or_assign(from, to);
    }
    into.met.insert(known);
    return;
  }
  for (const Variable& output : node.outputs()) require_value_type(output);
  std::int64_t rank = 0;
  for (const Variable& input : pointer->inputs) rank = std::max(rank, graph_.rank(input));
  const std::uint64_t serial = graph_.next_serial++;
  graph_.add_node(node, serial, rank + 1);
  into.created.push_back(pointer);
  note(change::NodeAdded{node, serial, rank + 1});
  key(pointer);
  Provenance& provenance = pointer->provenance;
  if (!provenance.where) provenance.where = replaced.where;
  if (provenance.rule) provenance.rule = chain_rules(replaced.rule, provenance.rule);
  notify([&](Feature& feature) { feature.on_import(*graph_.self, node, reason_); });
}

Transaction::Imported Transaction::import_variable(const Variable& v, const Provenance& replaced) {
  Imported out;
  Variable start = resolve(v);
  auto known = [&](VariableNode* node) {
    return graph_.contains(node->owner) || (!forwarded_.empty() && forwarded_.contains(Variable::of(node)));
  };
  // The walk is finished before anything changes: importing changes inputs, which the walk reads.
  std::vector<ApplyNode*> order;
  visit_nodes({&start, 1}, known, [&](ApplyNode* node) { order.push_back(node); });
  for (ApplyNode* node : order) import_node(Apply::of(node), replaced, out);
  out.variable = resolve(start);
  if (!out.variable.has_owner()) out.variable = import_leaf(out.variable);
  return out;
}

// Spreads the ranks of new nodes between those of their inputs and the target (the rank of the node that the last one
// replaces).
void Transaction::assign_ranks(const Imported& imported, std::int64_t target) {
  if (imported.created.empty()) return;
  // First, the rank of a new node is its level among the new nodes.
  const std::uint64_t first = graph_.record(imported.created.front()).serial;
  std::int64_t base = 0, height = 0;
  for (ApplyNode* node : imported.created) {
    std::int64_t level = 0;
    for (const Variable& input : node->inputs) {
      if (!input.has_owner()) continue;
      const NodeRecord& needed = graph_.record(input.node()->owner);
      std::int64_t& highest = needed.serial >= first ? level : base;
      highest = std::max(highest, needed.rank);
    }
    graph_.record(node).rank = ++level;
    height = std::max(height, level);
  }
  std::int64_t step = std::max<std::int64_t>(1, (target - base) / height);
  if (target <= 0) step = rank_gap;
  for (ApplyNode* node : imported.created) {
    std::int64_t& rank = graph_.record(node).rank;
    rank = base + step * rank;
  }
}

void Transaction::inherit_notes(const Variable& from, const Variable& to) {
  if (!to.has_owner()) return;
  if (!from.name().empty() && to.name().empty()) {
    note(change::Named{to, from.name()});
    to.set_name(from.name());
  }
  if (!from.is_guarded() && to.is_guarded()) {
    note(change::Unguarded{to});
    to.tag().is_guarded = false;
  }
}

// Both have the same value, so known lengths of one are known lengths of the other.
void Transaction::inherit_type(const Variable& from, const Variable& to) {
  if (from.type()->is_super(*to.type())) return;
  if (!as_tensor(to.type())) return;
  Dims lengths = to.static_shape();
  for (std::size_t d = 0; d < lengths.size(); ++d)
    if (lengths[d] == unknown_length) lengths[d] = from.static_shape()[d];
  const Type before = to.type(), after = tensor_type(to.dtype(), lengths);
  note(change::Retyped{to, before, after});
  to.node()->type = after;
}

Variable Transaction::import(const Variable& v) {
  Imported imported = import_variable(v, {});
  assign_ranks(imported, 0);
  return imported.variable;
}

void Transaction::add_output(const Variable& v) {
  Variable own = import(v);
  graph_.add_output(own);
  note(change::OutputAdded{own});
}

void Transaction::remove_output(std::size_t at) {
  const Variable output = graph_.outputs[at];
  graph_.remove_output(at);
  note(change::OutputRemoved{at, output});
  if (output.has_owner()) unused_.push_back(output.owner());
  prune_unused_nodes();
}

void Transaction::add_input(const Variable& leaf) {
  const std::size_t at = graph_.inputs.size();
  graph_.insert_input(at, leaf);
  note(change::InputAdded{at, leaf});
}

void Transaction::remove_input(std::size_t at) {
  const Variable input = graph_.inputs[at];
  graph_.remove_input(at);
  note(change::InputRemoved{at, input});
}

namespace {

// The nodes that a walk has visited, as keys of the map to their copies.
struct VisitedNodes {
  PointerMap<ApplyNode*>& copies;
  bool insert(const ApplyNode* node) { return copies.insert(node).second; }
};

}  // namespace

// A single walk that copies, merges and ranks, so that a large graph is traversed once.
Variables Transaction::copy_in(std::span<const Variable> outputs, const PointerMap<VariableNode*>& inputs,
                               Originals& originals) {
  PointerMap<ApplyNode*> copies;
  const auto own = [&](const Variable& v) {
    if (auto* input = inputs.find(v.node())) return Variable::of(*input);
    if (!v.has_owner()) return import_leaf(v);
    return Variable::of(&(*copies.find(v.node()->owner))->outputs[v.node()->index]);
  };
  const auto is_input = [&](const VariableNode* v) { return inputs.contains(v); };
  const auto copy = [&](ApplyNode* pointer) {
    Variables own_inputs;
    own_inputs.reserve(pointer->inputs.size());
    for (const Variable& input : pointer->inputs) own_inputs.push_back(equal_constant(own_inputs, own(input)));
    const Apply original = Apply::of(pointer);
    ApplyNode* made = copy_in_node(original, std::move(own_inputs));
    *copies.find(pointer) = made;
    for (std::size_t i = 0; i < original.output_count(); ++i)
      originals.emplace_back(original.output(int(i)), Variable::of(&made->outputs[i]));
  };
  visit_nodes(outputs, is_input, copy, VisitedNodes{copies});
  Variables out;
  for (const Variable& output : outputs) out.push_back(own(output));
  return out;
}

ApplyNode* Transaction::copy_in_node(const Apply& original, Variables inputs) {
  const std::size_t hash = MergeTable::hash(*original.node(), inputs);
  if (ApplyNode* known = graph_.table.find(*original.node(), inputs, hash)) {
    for (std::size_t i = 0; i < original.output_count(); ++i) {
      const Variable to = Variable::of(&known->outputs[i]);
      inherit_notes(original.output(int(i)), to);
      inherit_type(original.output(int(i)), to);
    }
    return known;
  }
  std::int64_t rank = 0;
  for (const Variable& input : inputs) rank = std::max(rank, graph_.rank(input));
  const Apply node = copy_node(original, std::move(inputs));
  copy_names(original, node);
  for (std::size_t i = 0; i < node.output_count(); ++i) require_value_type(node.output(int(i)));
  graph_.add_node(node, graph_.next_serial++, rank + rank_gap);
  graph_.table.add(node.node(), hash);
  node.node()->record->keyed = true;
  return node.node();
}

// ---- replacement ---------------------------------------------------------------------------------------------------

bool Transaction::replace(const Variable& given_before, const Variable& after) {
  Variable before = resolve(given_before);
  if (!subject_.defined()) subject_ = before;
  if (!graph_.knows(before.node())) return false;  // an earlier replacement removed it
  // Only the current clients are changed: uses in the replacement itself (x by f(x)) are kept.
  const ClientList clients = *graph_.find_clients(before.node());
  if (clients.empty() || before.same_as(resolve(after))) return false;
  std::int64_t target = 0;
  if (before.has_owner()) {
    target = graph_.rank(before);
  } else {
    for (const Client& client : clients)
      if (client.node && (target == 0 || graph_.record(client.node).rank <= target))
        target = graph_.record(client.node).rank - 1;
  }
  Imported imported = import_variable(after, before.has_owner() ? before.owner().provenance() : Provenance());
  assign_ranks(imported, target);
  if (imported.variable.same_as(before)) {
    for (ApplyNode* node : imported.created) unused_.push_back(Apply::of(node));
    settle();
    return false;
  }
  inherit_notes(before, imported.variable);
  for (const Client& client : clients)
    if (!client.node || !imported.met.contains(client.node)) set_input(client, imported.variable);
  for (ApplyNode* node : imported.created) unused_.push_back(Apply::of(node));
  settle();
  return true;
}

bool Transaction::change_input(const Client& client, const Variable& after) {
  subject_ = graph_.used_by(client);
  const bool only_use = graph_.find_clients(subject_.node())->size() == 1;
  Variable own = import(after);
  if (subject_.same_as(own)) return false;
  if (only_use) inherit_notes(subject_, own);
  set_input(client, own);
  settle();
  return true;
}

void Transaction::set_input(const Client& client, const Variable& after) {
  Variable before = graph_.used_by(client);
  if (before.same_as(after)) return;
  if (client.node) {
    if (after.has_owner()) order(after.node()->owner, client.node);
    unkey(client.node);
    touched_.push_back(Apply::of(client.node));
  }
  if (before.has_owner()) unused_.push_back(before.owner());
  graph_.assign(client, after);
  note(change::InputSet{Apply::of(client.node), client.index, before, after});
  notify([&](Feature& feature) { feature.on_change_input(*graph_.self, client, before, after, reason_); });
}

// Raises the rank of `later` above `earlier`, and those of all nodes that need `later` above that. Nodes are raised
// once each, in the order of their old ranks.
void Transaction::order(ApplyNode* earlier, ApplyNode* later) {
  std::int64_t floor = graph_.record(earlier).rank;
  if (graph_.record(later).rank > floor) return;
  using Entry = std::pair<std::int64_t, ApplyNode*>;  // old rank
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  std::unordered_map<ApplyNode*, std::int64_t> wanted;
  auto want = [&](ApplyNode* node, std::int64_t rank) {
    std::int64_t old = graph_.record(node).rank;
    if (old >= rank) return;
    auto [found, is_new] = wanted.try_emplace(node, rank);
    found->second = std::max(found->second, rank);
    if (is_new) queue.push({old, node});
  };
  want(later, floor + 1);
  while (!queue.empty()) {
    ApplyNode* node = queue.top().second;
    queue.pop();
    if (node == earlier)
      throw InconsistencyError(cat("`", reason_, "` would make the graph circular: ", later->op->label(),
                                   " would need its own result through ", earlier->op->label()));
    std::int64_t rank = wanted.at(node);
    set_rank(node, rank);
    ++graph_.raised;
    for (auto& clients : graph_.record(node).clients)
      for (const Client& client : clients)
        if (client.node) want(client.node, rank + 1);
  }
}

void Transaction::set_rank(ApplyNode* node, std::int64_t rank) {
  std::int64_t& slot = graph_.record(node).rank;
  note(change::RankSet{node, slot, rank});
  slot = rank;
}

void Transaction::key(ApplyNode* node) {
  graph_.key(node);
  note(change::Keyed{node, true});
}

void Transaction::unkey(ApplyNode* node) {
  if (!graph_.record(node).keyed) return;
  graph_.unkey(node);
  note(change::Keyed{node, false});
}

// ---- after a change ------------------------------------------------------------------------------------------------

void Transaction::settle() {
  merge_equal_nodes();
  prune_unused_nodes();
}

void Transaction::merge_equal_nodes() {
  while (!touched_.empty()) {
    Apply node = std::move(touched_.back());
    touched_.pop_back();
    ApplyNode* pointer = node.node();
    if (!graph_.contains(pointer) || graph_.record(pointer).keyed) continue;
    ApplyNode* equal = graph_.table.find(*pointer);
    if (!equal) {
      key(pointer);
    } else if (graph_.record(equal).serial < graph_.record(pointer).serial) {
      merge(pointer, equal);
    } else {
      unkey(equal);
      key(pointer);
      merge(equal, pointer);
    }
  }
}

// Both have the same inputs, so neither can need the other, and no cycle can arise.
void Transaction::merge(ApplyNode* gone, ApplyNode* kept) {
  std::int64_t rank = graph_.record(gone).rank;
  if (rank < graph_.record(kept).rank) set_rank(kept, rank);
  for (std::size_t i = 0; i < gone->output_count; ++i) {
    Variable from = Variable::of(&gone->outputs[i]), to = Variable::of(&kept->outputs[i]);
    inherit_notes(from, to);
    inherit_type(from, to);
    forwarded_.insert_or_assign(from, to);
    const ClientList clients = *graph_.find_clients(from.node());
    for (const Client& client : clients) set_input(client, to);
  }
  unused_.push_back(Apply::of(gone));
}

void Transaction::prune_unused_nodes() {
  while (!unused_.empty()) {
    Apply node = std::move(unused_.back());
    unused_.pop_back();
    if (!graph_.contains(node.node())) continue;
    auto& clients = graph_.record(node.node()).clients;
    if (std::ranges::all_of(clients, [](const ClientList& list) { return list.empty(); })) prune(node);
  }
}

void Transaction::prune(const Apply& node) {
  unkey(node.node());
  NodeRecord& record = graph_.record(node.node());
  std::uint64_t serial = record.serial;
  std::int64_t rank = record.rank;
  graph_.remove_node(node);
  note(change::NodeRemoved{node, serial, rank});
  for (const Variable& input : node.inputs())
    if (input.has_owner()) unused_.push_back(input.owner());
  notify([&](Feature& feature) { feature.on_prune(*graph_.self, node, reason_); });
}

}  // namespace bitale
