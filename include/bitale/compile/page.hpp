// A compiled function as a page: graph_html(page_of(f)).
#pragma once

#include "bitale/compile/function.hpp"
#include "bitale/printing/picture.hpp"

namespace bitale {

// The graph after rewriting, the graph as it was built, and the program where the linker makes one. Times of nodes can
// be added as graphs[0].seconds.
Page page_of(const Function& function);

}  // namespace bitale
