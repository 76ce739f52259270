// Two draws from one state of a generator are not independent: one of them was meant to begin where the other ended.
#pragma once

#include <string>

#include "bitale/graph/function_graph.hpp"

namespace bitale {

// ValueError, or a warning, as the flag random__shared_state says, when two nodes of the graph, or of a graph within
// it, draw from one state; it names the lines of both. Equal draws are one node, and no matter.
void check_states(const FunctionGraph& graph);

}  // namespace bitale
