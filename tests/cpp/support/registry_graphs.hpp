// Random graphs over the whole registry: every op at each of its samples can consume the results of every other one.
// Each node is evaluated by perform when it is created, so that the expected value of every variable is known.
#pragma once

#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "support/shrink.hpp"

namespace bitale::test {

// How often each pair of a producer and a consumer was created, by the names of ops; of elementwise ones, of the scalar
// op.
using PairCounts = std::map<std::pair<std::string, std::string>, std::int64_t>;

// Deterministic in the seed. Adds to `pairs` where given.
Case registry_graph(std::uint64_t seed, int nodes, PairCounts* pairs = nullptr);
// The names that occur in pairs: those of all ops, and of all scalar ops.
std::vector<std::string> generated_op_names();
std::string op_label(const Op& op);

// The consumer applied to a result of the producer, both of which are names of generated ops.
struct PairGraph {
  bool is_legal = false;      // some result of the producer has the rank and the dtype of one of the consumer's leaves
  std::optional<Case> graph;  // nothing if the lengths or values never match
};
PairGraph pair_graph(const std::string& producer, const std::string& consumer);

}  // namespace bitale::test
