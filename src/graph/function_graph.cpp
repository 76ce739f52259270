// The public interface of FunctionGraph: construction, queries, and the entry points of changes (which are
// Transactions).
#include "bitale/graph/function_graph.hpp"

#include <algorithm>
#include <numeric>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "graph/graph_state.hpp"
#include "graph/ordered_walk.hpp"
#include "graph/pointer_map.hpp"
#include "graph/transaction.hpp"
#include "graph/walk.hpp"

namespace bitale {

// ---- construction --------------------------------------------------------------------------------------------------

namespace {

void check_inputs(const Variables& inputs, bool clone) {
  PointerSet seen;
  for (const Variable& input : inputs) {
    if (!input.defined()) throw ValueError("FunctionGraph: an input is not a variable");
    if (!seen.insert(input.node()))
      throw ValueError(cat("FunctionGraph: the input `", input.str(), "` is given twice"));
    if (input.is_constant()) throw ValueError(cat("FunctionGraph: the constant `", input.str(), "` can't be an input"));
    if (input.has_owner() && !clone)
      throw ValueError(cat("FunctionGraph: the input `", input.str(), "` is computed by ", input.owner_op()->label(),
                           "; clone the graph to cut it off there"));
  }
}

// A copy of the input as a leaf, even if the input is computed.
Variable input_copy(const Variable& input) {
  Variable copy(input.type(), input.name());
  copy.node()->leaf = input.node()->leaf;
  copy.node()->where = input.where();
  if (!input.is_guarded()) copy.tag().is_guarded = false;
  return copy;
}

}  // namespace

FunctionGraph::FunctionGraph(Variables inputs, Variables outputs, Clone clone) : state_(std::make_unique<State>()) {
  const bool copies = clone == Clone::Yes;
  check_inputs(inputs, copies);
  for (const Variable& output : outputs)
    if (!output.defined()) throw ValueError("FunctionGraph: an output is not a variable");
  auto& originals = state_->originals;
  PointerMap<VariableNode*> own_inputs;
  for (const Variable& input : inputs) {
    const Variable own = copies ? input_copy(input) : input;
    LeafRecord& record = state_->leaves[own.node()];
    record.leaf = own;
    record.is_input = true;
    state_->inputs.push_back(own);
    own_inputs.insert(input.node(), own.node());
    if (copies) originals.emplace_back(input, own);
  }
  if (!copies)
    for (const Variable& v : ancestors(outputs)) originals.emplace_back(v, v);
  Transaction making(change(), "new graph", Transaction::Log::No);
  if (copies) outputs = making.copy_in(outputs, own_inputs, originals);
  for (const Variable& output : outputs) making.add_output(output);
  making.commit();
  if (copies && state_->free_records.empty()) {  // nodes were imported in the order of a walk from the outputs
    state_->order.resize(node_count());
    std::iota(state_->order.begin(), state_->order.end(), 0u);
    state_->order_is_known = true;
  }
  if (!copies)
    for (auto& [original, own] : originals) own = making.resolve(own);
}

FunctionGraph::FunctionGraph(Variables outputs) : FunctionGraph(graph_inputs(outputs), outputs) {}

FunctionGraph::~FunctionGraph() = default;
FunctionGraph::FunctionGraph(FunctionGraph&&) noexcept = default;
FunctionGraph& FunctionGraph::operator=(FunctionGraph&&) noexcept = default;

FunctionGraph FunctionGraph::clone() const { return FunctionGraph(inputs(), outputs()); }

FunctionGraph::State& FunctionGraph::change() {
  state_->self = this;  // may have moved
  return *state_;
}

// ---- queries --------------------------------------------------------------------------------------------------------

const Variables& FunctionGraph::inputs() const { return state_->inputs; }
const Variables& FunctionGraph::outputs() const { return state_->outputs; }
VariableMap FunctionGraph::originals() const { return {state_->originals.begin(), state_->originals.end()}; }
std::size_t FunctionGraph::node_count() const { return state_->node_count(); }
bool FunctionGraph::contains(const Apply& node) const { return node.defined() && state_->contains(node.node()); }
bool FunctionGraph::contains(const Variable& variable) const {
  return variable.defined() && state_->knows(variable.node());
}

std::span<const Client> FunctionGraph::clients(const Variable& variable) const {
  const ClientList* list = variable.defined() ? state_->find_clients(variable.node()) : nullptr;
  return list ? std::span<const Client>(list->data(), list->size()) : std::span<const Client>();
}

void FunctionGraph::check_integrity() const { state_->check_integrity(); }

namespace {

// The nodes that a walk has visited, by slot.
class SlotSet {
 public:
  explicit SlotSet(std::size_t size) : seen_(size) {}
  bool insert(const ApplyNode* node) { return !std::exchange(seen_[node->record->slot], true); }

 private:
  std::vector<char> seen_;
};

}  // namespace

std::vector<Apply> FunctionGraph::toposort() const {
  Orderings orderings;
  for (auto& feature : state_->features)
    for (auto& pair : feature->orderings(const_cast<FunctionGraph&>(*this))) orderings.push_back(pair);
  if (!orderings.empty()) return toposort_with_orderings(state_->outputs, orderings);
  std::vector<Apply> order;
  order.reserve(node_count());
  visit_nodes(
      state_->outputs, NoBlockers(), [&](ApplyNode* node) { order.push_back(Apply::of(node)); }, SlotSet(slot_count()));
  return order;
}

std::size_t FunctionGraph::slot(const ApplyNode* node) const { return state_->record(node).slot; }

Apply FunctionGraph::at_slot(std::size_t slot) const {
  return slot < slot_count() ? state_->records[slot].node : Apply();
}

std::size_t FunctionGraph::slot_count() const { return state_->records.size(); }

const std::vector<std::uint32_t>& FunctionGraph::slots_in_order() {
  auto& order = state_->order;
  if (state_->order_is_known) return order;
  order.clear();
  order.reserve(node_count());
  visit_nodes(
      state_->outputs, NoBlockers(), [&](ApplyNode* node) { order.push_back(node->record->slot); },
      SlotSet(slot_count()));
  state_->order_is_known = true;
  return order;
}

void FunctionGraph::sort_slots(std::vector<std::uint32_t>& slots) const {
  std::ranges::stable_sort(slots, {}, [&](std::uint32_t slot) { return state_->records[slot].rank; });
}

// ---- changes -------------------------------------------------------------------------------------------------------

namespace {

void check_replacement(const FunctionGraph& graph, const Variable& before, const Variable& after,
                       std::string_view reason) {
  if (!before.defined() || !after.defined())
    throw ValueError(cat("`", reason, "`: a variable of a replacement is missing"));
  if (!graph.contains(before))
    throw ValueError(cat("`", reason, "`: `", before.str(), "` is to be replaced but is not in the graph"));
  if (!before.type()->is_super(*after.type()))
    throw TypeError(cat("`", reason, "`: cannot replace `", before.str(), "` of type ", before.type()->str(), " by `",
                        after.str(), "` of type ", after.type()->str()));
}

}  // namespace

bool FunctionGraph::replace(const Variable& before, const Variable& after, std::string_view reason,
                            UnknownLeaves unknown) {
  std::pair<Variable, Variable> pair(before, after);
  return replace_all({&pair, 1}, reason, unknown);
}

bool FunctionGraph::replace_all(std::span<const std::pair<Variable, Variable>> pairs, std::string_view reason,
                                UnknownLeaves unknown) {
  for (auto& [before, after] : pairs) check_replacement(*this, before, after, reason);
  Transaction transaction(change(), reason);
  if (unknown == UnknownLeaves::add) transaction.accept_new_inputs();
  bool changed = false;
  for (auto& [before, after] : pairs) changed |= transaction.replace(before, after);
  transaction.commit();
  return changed;
}

bool FunctionGraph::change_node_input(const Client& client, const Variable& after, std::string_view reason,
                                      UnknownLeaves unknown) {
  if (client.node && !state_->contains(client.node))
    throw ValueError(cat("`", reason, "`: the node is not in the graph"));
  std::size_t count = client.node ? client.node->inputs.size() : state_->outputs.size();
  if (client.index < 0 || std::size_t(client.index) >= count)
    throw IndexError(
        cat("`", reason, "`: there is no ", client.node ? "input " : "output ", client.index, " of ", count));
  Variable before = state_->used_by(client);
  check_replacement(*this, before, after, reason);
  Transaction transaction(change(), reason);
  if (unknown == UnknownLeaves::add) transaction.accept_new_inputs();
  bool changed = transaction.change_input(client, after);
  transaction.commit();
  return changed;
}

void FunctionGraph::add_output(const Variable& output, std::string_view reason, UnknownLeaves unknown) {
  if (!output.defined()) throw ValueError("FunctionGraph: an output is not a variable");
  Transaction transaction(change(), reason);
  if (unknown == UnknownLeaves::add) transaction.accept_new_inputs();
  transaction.add_output(output);
  transaction.commit();
}

void FunctionGraph::add_input(const Variable& leaf, std::string_view reason) {
  check_inputs({leaf}, false);
  if (contains(leaf)) throw ValueError(cat("FunctionGraph: `", leaf.str(), "` is an input already"));
  Transaction transaction(change(), reason);
  transaction.add_input(leaf);
  transaction.commit();
}

namespace {

// The outputs of the graph that these uses lead to, from the last to the first.
std::vector<std::size_t> outputs_behind(const FunctionGraph& graph, std::vector<Client> uses) {
  std::vector<bool> found(graph.outputs().size()), seen(graph.slot_count());
  while (!uses.empty()) {
    const Client use = uses.back();
    uses.pop_back();
    if (!use.node) {
      found[std::size_t(use.index)] = true;
      continue;
    }
    std::vector<bool>::reference is_seen = seen[graph.slot(use.node)];
    if (is_seen) continue;
    is_seen = true;
    for (auto& output : Apply::of(use.node).outputs())
      for (const Client& client : graph.clients(output)) uses.push_back(client);
  }
  std::vector<std::size_t> out;
  for (std::size_t at = found.size(); at-- > 0;)
    if (found[at]) out.push_back(at);
  return out;
}

}  // namespace

void FunctionGraph::remove_output(std::size_t at, std::string_view reason) {
  if (at >= outputs().size())
    throw IndexError(cat("`", reason, "`: there is no output ", at, " of ", outputs().size()));
  Transaction transaction(change(), reason);
  transaction.remove_output(at);
  transaction.commit();
}

void FunctionGraph::remove_input(std::size_t at, std::string_view reason) {
  if (at >= inputs().size()) throw IndexError(cat("`", reason, "`: there is no input ", at, " of ", inputs().size()));
  const std::span<const Client> uses = clients(inputs()[at]);
  const std::vector<std::size_t> gone = outputs_behind(*this, {uses.begin(), uses.end()});
  Transaction transaction(change(), reason);
  for (auto output : gone) transaction.remove_output(output);
  transaction.remove_input(at);
  transaction.commit();
}

void FunctionGraph::remove_node(const Apply& node, std::string_view reason) {
  if (!contains(node)) throw ValueError(cat("`", reason, "`: the node is not in the graph"));
  const std::vector<std::size_t> gone = outputs_behind(*this, {{node.node(), 0}});
  Transaction transaction(change(), reason);
  for (auto output : gone) transaction.remove_output(output);
  transaction.commit();
}

void FunctionGraph::undo(Changes& changes) { undo_all(change(), changes); }
void FunctionGraph::redo(Changes& changes) { redo_all(change(), changes); }

// ---- features ------------------------------------------------------------------------------------------------------

void FunctionGraph::attach(std::shared_ptr<Feature> feature) {
  if (!feature) throw ValueError("FunctionGraph: there is no feature to attach");
  for (auto& other : state_->features)
    if (other->name() == feature->name())
      throw AlreadyThere(cat("FunctionGraph: a feature `", feature->name(), "` is attached already"));
  state_->require_quiet();
  feature->on_attach(*this);
  change().features.push_back(std::move(feature));
}

void FunctionGraph::detach(const Feature& feature) {
  state_->require_quiet();
  auto& features = change().features;
  auto found = std::ranges::find_if(features, [&](auto& f) { return f.get() == &feature; });
  if (found == features.end())
    throw ValueError(cat("FunctionGraph: the feature `", feature.name(), "` is not attached"));
  std::shared_ptr<Feature> gone = *found;
  features.erase(found);
  gone->on_detach(*this);
}

std::span<const std::shared_ptr<Feature>> FunctionGraph::features() const { return state_->features; }

}  // namespace bitale
