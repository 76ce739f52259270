// What the choice of a lazy op guards: values that only one of its alternatives needs, and whose computation may fail
// (an index out of range, a matrix without a factor). A transformation must not compute them before the choice is made.
#pragma once

#include <span>

#include "bitale/graph/function_graph.hpp"
#include "bitale/graph/op.hpp"
#include "graph/pointer_map.hpp"

namespace bitale {

// Whether the node's computation is known to succeed for all values of its inputs.
bool is_total(const Apply& node);

// The computed values that only alternatives of lazy nodes need, and that may fail, or depend on such values.
PointerSet guarded_values(std::span<const Variable> outputs);
// The same of those lazy nodes alone that depend on the leaves; `order`: all nodes that the outputs need, down to the
// leaves.
PointerSet guarded_values(std::span<const Variable> outputs, const Variables& leaves, const std::vector<Apply>& order);
// The values that are needed whatever the lazy nodes choose that depend on the leaves.
PointerSet needed_values(std::span<const Variable> outputs, const Variables& leaves);

// Whether an output of the graph needs the variable whatever its lazy nodes choose.
bool is_always_needed(const FunctionGraph& graph, const Variable& variable);

}  // namespace bitale
