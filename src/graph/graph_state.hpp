// The internal state of a FunctionGraph: a record per node with the clients of its outputs, and the elementary changes.
// These only keep the client lists right; Transaction composes them, logs how to undo them, and notifies the features.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "bitale/graph/function_graph.hpp"
#include "graph/merge_table.hpp"

namespace bitale {

using ClientList = SmallVector<Client, 2>;

// One list per output. Nearly all nodes have one output, whose list is stored inline.
class ClientLists {
 public:
  ClientLists() = default;
  ClientLists(const ClientLists&) = delete;
  ClientLists& operator=(const ClientLists&) = delete;

  void resize(std::size_t size) {  // to empty lists
    only_.clear();
    size_ = size;
    several_ = size == 1 ? nullptr : std::make_unique<ClientList[]>(size);
  }
  ClientList* begin() { return several_ ? several_.get() : &only_; }
  ClientList* end() { return begin() + size_; }
  const ClientList* begin() const { return several_ ? several_.get() : &only_; }
  const ClientList* end() const { return begin() + size_; }
  ClientList& operator[](std::size_t output) { return begin()[output]; }
  const ClientList& operator[](std::size_t output) const { return begin()[output]; }

 private:
  ClientList only_;
  std::unique_ptr<ClientList[]> several_;
  std::size_t size_ = 1;
};

struct NodeRecord {
  explicit NodeRecord(std::uint32_t slot) : slot(slot) {}

  const void* graph = nullptr;              // the State whose node it is
  const std::uint32_t slot;                 // its index in the State's list of records
  Apply node;                               // keeps it alive; null while the slot is free
  std::uint64_t serial = 0;                 // in order of import: of two equal nodes the older is kept
  std::int64_t rank = 0;                    // greater than the rank of every node it needs
  bool keyed = false;                       // in the merge table
  std::size_t hash = 0;                     // of the merge table
  ApplyNode* next = nullptr;                // the next node in the same merge table bucket
  SmallVector<std::uint32_t, 4> positions;  // of each input's entry in that variable's client list
  ClientLists clients;
};

struct LeafRecord {
  Variable leaf;
  bool is_input = false;
  ClientList clients;
};

struct FunctionGraph::State {
  FunctionGraph* self = nullptr;
  Variables inputs, outputs;
  std::vector<std::uint32_t> output_positions;
  std::vector<std::pair<Variable, Variable>> originals;  // and their variables in this graph
  std::deque<NodeRecord> records;                        // by slot
  std::vector<NodeRecord*> free_records;
  std::unordered_map<const VariableNode*, LeafRecord> leaves;  // inputs, and constants in use
  std::vector<std::uint32_t> order;                            // of slots, inputs first
  bool order_is_known = false;                                 // whether `order` is up to date
  MergeTable table;
  std::vector<std::shared_ptr<Feature>> features;
  std::uint64_t next_serial = 0;
  std::size_t raised = 0;                       // ranks changed to make room since the ranks were last spread out
  std::uint64_t version = 0, next_version = 1;  // of the committed state; never used twice
  bool changing = false;

  State() = default;
  State(const State&) = delete;
  ~State();

  std::size_t node_count() const { return records.size() - free_records.size(); }
  bool contains(const ApplyNode* node) const { return node->record && node->record->graph == this; }
  NodeRecord& record(const ApplyNode* node) {
    if (!contains(node)) refuse_stranger(node);
    return *node->record;
  }
  bool knows(const VariableNode* v) const { return v->owner ? contains(v->owner) : leaves.contains(v); }
  // nullptr when the variable is not in the graph.
  const ClientList* find_clients(const VariableNode* v) const;
  std::int64_t rank(const Variable& v) { return v.has_owner() ? record(v.node()->owner).rank : 0; }
  const Variable& used_by(const Client& client) const {
    return client.node ? client.node->inputs[std::size_t(client.index)] : outputs[std::size_t(client.index)];
  }

  // A constant is added with its first client and removed with its last.
  void add_client(const Variable& v, const Client& client);
  void remove_client(const Variable& v, const Client& client);
  void add_node(const Apply& node, std::uint64_t serial, std::int64_t rank);
  void remove_node(const Apply& node);  // its outputs have no clients
  void assign(const Client& client, const Variable& after);
  void add_output(const Variable& v);
  void remove_last_output();
  // Outputs behind it get other positions.
  void insert_output(std::size_t at, const Variable& v);
  void remove_output(std::size_t at);
  void insert_input(std::size_t at, const Variable& v);
  void remove_input(std::size_t at);  // which has no clients
  void key(ApplyNode* node);
  void unkey(ApplyNode* node);

  // InternalError while a change is in progress.
  void require_quiet() const;
  // Respaces the ranks with equal gaps, so that new nodes fit between old ones.
  void spread_ranks();
  void check_integrity() const;

 private:
  [[noreturn]] void refuse_stranger(const ApplyNode* node) const;
  NodeRecord& new_record();
  std::uint32_t& position(const Client& client);
};

// The distance between adjacent ranks in a newly imported graph.
inline constexpr std::int64_t rank_gap = std::int64_t(1) << 36;

}  // namespace bitale
