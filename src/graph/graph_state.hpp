// The inside of a FunctionGraph: a record per node with the clients of its outputs, and the elementary changes.
// These keep client lists right and nothing else; Transaction composes them, remembers how to undo them, and tells the
// features.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "bitale/graph/function_graph.hpp"
#include "graph/merge_table.hpp"

namespace bitale {

using ClientList = SmallVector<Client, 2>;

struct NodeRecord {
  Apply node;                               // keeps it alive
  std::uint64_t serial = 0;                 // in order of import: of two equal nodes the older one stays
  std::int64_t rank = 0;                    // greater than the rank of every node it needs
  bool keyed = false;                       // in the merge table
  SmallVector<std::uint32_t, 4> positions;  // of each input's entry in that variable's client list
  std::vector<ClientList> clients;          // per output
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
  VariableMap originals;
  std::unordered_map<const ApplyNode*, NodeRecord> nodes;
  std::unordered_map<const VariableNode*, LeafRecord> leaves;  // inputs, and constants in use
  MergeTable table;
  std::vector<std::shared_ptr<Feature>> features;
  std::uint64_t next_serial = 0;
  std::size_t raised = 0;                       // ranks changed to make room since the ranks were last spread out
  std::uint64_t version = 0, next_version = 1;  // of the committed state; never used twice
  bool changing = false;

  bool contains(const ApplyNode* node) const { return nodes.contains(node); }
  NodeRecord& record(const ApplyNode* node) { return nodes.at(node); }
  bool knows(const VariableNode* v) const { return v->owner ? contains(v->owner) : leaves.contains(v); }
  // nullptr when the variable is not in the graph.
  const ClientList* find_clients(const VariableNode* v) const;
  std::int64_t rank(const Variable& v) { return v.has_owner() ? record(v.node()->owner).rank : 0; }
  const Variable& used_by(const Client& client) const {
    return client.node ? client.node->inputs[std::size_t(client.index)] : outputs[std::size_t(client.index)];
  }

  // A constant joins with its first client and leaves with its last.
  void add_client(const Variable& v, const Client& client);
  void remove_client(const Variable& v, const Client& client);
  void add_node(const Apply& node, std::uint64_t serial, std::int64_t rank);
  void remove_node(const Apply& node);  // its outputs have no clients
  void assign(const Client& client, const Variable& after);
  void add_output(const Variable& v);
  void remove_last_output();
  void key(ApplyNode* node);
  void unkey(ApplyNode* node);

  // InternalError while a change is under way.
  void require_quiet() const;
  // Ranks with equal gaps again, so that new nodes find room between old ones.
  void spread_ranks();
  void check_integrity() const;

 private:
  std::uint32_t& position(const Client& client);
};

// The distance between ranks of neighbours in a graph as it comes in.
inline constexpr std::int64_t rank_gap = std::int64_t(1) << 36;

}  // namespace bitale
