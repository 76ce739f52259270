// Random graphs over the whole registry: every op at every sample of its own can consume what every other produces.
// Each node is evaluated as it is made, by its op's perform, so that the expected value of every variable is known.
#pragma once

#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "support/shrink.hpp"

namespace bitale::test {

// The ops of a producer and of its consumer, by name; of elementwise ones the scalar op. How often the pair was made.
using PairCounts = std::map<std::pair<std::string, std::string>, std::int64_t>;

// Deterministic in the seed. Adds to `pairs` where given.
Case registry_graph(std::uint64_t seed, int nodes, PairCounts* pairs = nullptr);
// The names that appear in pairs: those of all ops, and of all scalar ops.
std::vector<std::string> generated_op_names();
std::string op_label(const Op& op);

// The consumer applied to a result of the producer, both of which are names of generated ops.
struct PairGraph {
  bool is_legal = false;      // some result of the producer has the rank and the dtype of what the consumer reads
  std::optional<Case> graph;  // nothing when the lengths or values never fit
};
PairGraph pair_graph(const std::string& producer, const std::string& consumer);

}  // namespace bitale::test
