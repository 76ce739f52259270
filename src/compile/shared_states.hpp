// Two draws from one state of a generator are not independent: one of them was meant to start from the state that the
// other returned.
#pragma once

#include <string>

#include "bitale/graph/function_graph.hpp"

namespace bitale {

// Raises a ValueError, or warns, as the flag random__shared_state specifies, when two nodes of the graph, or of a graph
// within it, draw from one state; the message names the lines of both. Equal draws are merged to one node and are
// allowed.
void check_states(const FunctionGraph& graph);

}  // namespace bitale
