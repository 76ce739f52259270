// Ops with inner graphs, for linkers that compile a graph to one function: each distinct inner graph is compiled once,
// to a separate function, which the main function calls back wherever the op occurs.
#pragma once

#include "link/branches.hpp"

namespace bitale::link {

// `link` links an inner graph.
OutlinedBranches outline_inner_graphs(const LinkedGraph& graph, const LinkBranch& link);

// Whether this is the op of such a call.
bool is_inner_call(const Op& op);

}  // namespace bitale::link
