// A topological order that obeys additional edges.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "bitale/graph/variable.hpp"

namespace bitale {

// Pairs (later, earlier).
using Orderings = std::vector<std::pair<ApplyNode*, ApplyNode*>>;

// The nodes that the outputs need, each after its inputs and its extra predecessors. InconsistencyError if the edges
// close a cycle.
std::vector<Apply> toposort_with_orderings(std::span<const Variable> outputs, const Orderings& orderings);

}  // namespace bitale
