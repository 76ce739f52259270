// Ops with inner graphs, for linkers that make one function of a graph: each distinct inner graph becomes a function of
// its own, compiled once, which the whole calls back wherever the op occurs.
#pragma once

#include "link/branches.hpp"

namespace bitale::link {

// `link` is how an inner graph is linked.
OutlinedBranches inner_graphs_apart(const LinkedGraph& graph, const LinkBranch& link);

// Whether it is the op of such a call.
bool is_inner_call(const Op& op);

}  // namespace bitale::link
