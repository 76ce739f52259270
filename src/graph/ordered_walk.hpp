// A dependency order that obeys more edges than the graph has.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "bitale/graph/variable.hpp"

namespace bitale {

// Pairs (later, earlier).
using Orderings = std::vector<std::pair<ApplyNode*, ApplyNode*>>;

// The nodes that the outputs need, each after what it needs and what must come earlier. InconsistencyError when the
// edges close a cycle.
std::vector<Apply> toposort_with_orderings(std::span<const Variable> outputs, const Orderings& orderings);

}  // namespace bitale
