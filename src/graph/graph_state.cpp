// Elementary changes of a FunctionGraph, and the check of its internal consistency.
#include "graph/graph_state.hpp"

#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "graph/walk.hpp"

namespace bitale {

FunctionGraph::State::~State() {
  // All records are detached before any node is destroyed: a node may hold the last handle to another.
  for (NodeRecord& record : records)
    if (record.node.defined()) record.node.node()->record = nullptr;
}

void FunctionGraph::State::refuse_stranger(const ApplyNode* node) const {
  throw InternalError(cat("FunctionGraph: ", node->op->label(), " is not one of its nodes"));
}

NodeRecord& FunctionGraph::State::new_record() {
  if (free_records.empty()) return records.emplace_back(std::uint32_t(records.size()));
  NodeRecord& record = *free_records.back();
  free_records.pop_back();
  return record;
}

const ClientList* FunctionGraph::State::find_clients(const VariableNode* v) const {
  if (v->owner) {
    return contains(v->owner) ? &v->owner->record->clients[v->index] : nullptr;
  }
  auto found = leaves.find(v);
  return found == leaves.end() ? nullptr : &found->second.clients;
}

std::uint32_t& FunctionGraph::State::position(const Client& client) {
  return client.node ? record(client.node).positions[std::size_t(client.index)]
                     : output_positions[std::size_t(client.index)];
}

void FunctionGraph::State::add_client(const Variable& v, const Client& client) {
  order_is_known = false;
  ClientList* list = nullptr;
  if (v.has_owner()) {
    list = &record(v.node()->owner).clients[v.node()->index];
  } else {
    auto [found, is_new] = leaves.try_emplace(v.node());
    if (is_new) {
      found->second.leaf = v;
      table.add_constant(v);
    }
    list = &found->second.clients;
  }
  position(client) = std::uint32_t(list->size());
  list->push_back(client);
}

void FunctionGraph::State::remove_client(const Variable& v, const Client& client) {
  order_is_known = false;
  auto& list = const_cast<ClientList&>(*find_clients(v.node()));
  std::uint32_t at = position(client);
  Client last = list.back();
  list[at] = last;
  position(last) = at;
  list.resize(list.size() - 1);
  if (!list.empty() || v.has_owner()) return;
  auto found = leaves.find(v.node());
  if (found->second.is_input) return;
  table.remove_constant(v);
  leaves.erase(found);
}

void FunctionGraph::State::add_node(const Apply& node, std::uint64_t serial, std::int64_t rank) {
  if (node.node()->record) throw InternalError(cat("FunctionGraph: ", node.op().label(), " belongs to another graph"));
  NodeRecord& record = new_record();
  node.node()->record = &record;
  record.graph = this;
  record.node = node;
  record.serial = serial;
  record.rank = rank;
  record.clients.resize(node.output_count());
  record.positions.resize(node.inputs().size());
  for (std::size_t i = 0; i < node.inputs().size(); ++i) add_client(node.inputs()[i], {node.node(), int(i)});
}

void FunctionGraph::State::remove_node(const Apply& node) {
  for (std::size_t i = 0; i < node.inputs().size(); ++i) remove_client(node.inputs()[i], {node.node(), int(i)});
  NodeRecord& record = *node.node()->record;
  free_records.push_back(&record);
  node.node()->record = nullptr;
  record.node = Apply();
}

void FunctionGraph::State::assign(const Client& client, const Variable& after) {
  Variable& slot = client.node ? client.node->inputs[std::size_t(client.index)] : outputs[std::size_t(client.index)];
  Variable before = slot;
  remove_client(before, client);
  slot = after;
  add_client(after, client);
}

void FunctionGraph::State::add_output(const Variable& v) {
  outputs.push_back(v);
  output_positions.push_back(0);
  add_client(v, {nullptr, int(outputs.size()) - 1});
}

void FunctionGraph::State::remove_last_output() {
  Variable v = outputs.back();
  remove_client(v, {nullptr, int(outputs.size()) - 1});
  outputs.pop_back();
  output_positions.pop_back();
}

void FunctionGraph::State::insert_output(std::size_t at, const Variable& v) {
  const Variables behind(outputs.begin() + std::ptrdiff_t(at), outputs.end());
  while (outputs.size() > at) remove_last_output();
  add_output(v);
  for (auto& each : behind) add_output(each);
}

void FunctionGraph::State::remove_output(std::size_t at) {
  const Variables behind(outputs.begin() + std::ptrdiff_t(at) + 1, outputs.end());
  while (outputs.size() > at) remove_last_output();
  for (auto& each : behind) add_output(each);
}

void FunctionGraph::State::insert_input(std::size_t at, const Variable& v) {
  LeafRecord& record = leaves[v.node()];
  record.leaf = v;
  record.is_input = true;
  inputs.insert(inputs.begin() + std::ptrdiff_t(at), v);
}

void FunctionGraph::State::remove_input(std::size_t at) {
  leaves.erase(inputs[at].node());
  inputs.erase(inputs.begin() + std::ptrdiff_t(at));
}

void FunctionGraph::State::key(ApplyNode* node) {
  table.add(node);
  record(node).keyed = true;
}

void FunctionGraph::State::unkey(ApplyNode* node) {
  table.remove(node);
  record(node).keyed = false;
}

void FunctionGraph::State::require_quiet() const {
  if (changing) throw InternalError("FunctionGraph: a feature may not change the graph while it is told of a change");
}

void FunctionGraph::State::spread_ranks() {
  visit_nodes(outputs, NoBlockers(), [&](ApplyNode* node) {
    std::int64_t highest = 0;
    for (const Variable& input : node->inputs) highest = std::max(highest, rank(input));
    record(node).rank = highest + rank_gap;
  });
  raised = 0;
}

// ---- integrity -----------------------------------------------------------------------------------------------------

namespace {

void require(bool condition, std::string_view what, const std::string& where = {}) {
  if (!condition) throw InternalError(cat("FunctionGraph: ", what, where.empty() ? "" : ": ", where));
}

}  // namespace

void FunctionGraph::State::check_integrity() const {
  std::size_t uses = outputs.size(), reached = 0;
  auto check_use = [&](const Variable& v, const Client& client, std::uint32_t at) {
    const ClientList* list = find_clients(v.node());
    require(list, "a variable in use is not known", v.str());
    require(at < list->size() && (*list)[at] == client, "a client is not listed where it should be", v.str());
    require(!v.is_constant() || table.find_constant(v).same_as(v), "equal constants are not merged", v.str());
  };
  for (std::size_t i = 0; i < outputs.size(); ++i) check_use(outputs[i], {nullptr, int(i)}, output_positions[i]);
  for (const NodeRecord& record : records) {
    const Apply& node = record.node;
    if (!node.defined()) continue;
    require(node.node()->record == &record, "a record is of another node", node.op().label());
    require(record.keyed && table.find(*node.node()) == node.node(), "equal nodes are not merged", node.op().label());
    for (std::size_t i = 0; i < node.inputs().size(); ++i) {
      const Variable& input = node.inputs()[i];
      check_use(input, {node.node(), int(i)}, record.positions[i]);
      require(!input.has_owner() || input.node()->owner->record->rank < record.rank, "ranks are out of order",
              node.op().label());
    }
    uses += node.inputs().size();
  }
  std::size_t listed = 0;
  for (const NodeRecord& record : records)
    if (record.node.defined())
      for (auto& list : record.clients) listed += list.size();
  for (auto& [pointer, record] : leaves) {
    listed += record.clients.size();
    require(record.is_input || (record.leaf.is_constant() && !record.clients.empty()),
            "a leaf is neither an input nor a constant in use", record.leaf.str());
  }
  require(uses == listed, "something is listed as a client that is not one");
  visit_nodes(outputs, NoBlockers(), [&](ApplyNode* node) { reached += contains(node); });
  require(reached == node_count(), "a node is kept that no output needs");
  for (const Variable& input : inputs) require(leaves.contains(input.node()), "an input is not known", input.str());
}

}  // namespace bitale
