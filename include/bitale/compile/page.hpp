// A compiled function as a page, graph_html(page_of(f)), and times of its nodes to colour them by.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "bitale/compile/function.hpp"
#include "bitale/printing/picture.hpp"

namespace bitale {

// The graph after rewriting, the graph as it was built, and the program where the linker makes one. Times of nodes can
// be added as graphs[0].seconds.
Page page_of(const Function& function);

// Seconds that the interpreter takes for each node of the graph after rewriting, one after the other: the least of some
// runs. Shared variables are read and stay as they are. Native code makes loops of many nodes, so this says which nodes
// are dear, not what a call costs. ValueError for another number of inputs or no run; TypeError and whatever the
// computation raises, as a call.
std::vector<std::pair<Apply, double>> node_times(const Function& function, std::span<const Array> inputs, int runs = 3);

}  // namespace bitale
