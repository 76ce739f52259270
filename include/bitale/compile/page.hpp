// A compiled function as a page, graph_html(page_of(f)), and times of its nodes, with which the page colours them.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "bitale/compile/function.hpp"
#include "bitale/printing/picture.hpp"

namespace bitale {

// The graph after rewriting, the graph as it was built, and the program where the linker generates one. Times of nodes
// can be added as graphs[0].seconds.
Page page_of(const Function& function);

// Seconds that the interpreter takes for each node of the graph after rewriting, one node at a time: the minimum of
// some runs. Shared variables are read and not changed. Native code fuses many nodes into loops, so this tells which
// nodes are expensive, not what a call costs. ValueError for a wrong number of inputs, or if no run is requested;
// otherwise the errors of a call.
std::vector<std::pair<Apply, double>> node_times(const Function& function, std::span<const Array> inputs, int runs = 3);

}  // namespace bitale
