// Each pass of the lowering alone: the Program after a pass is interpreted, and must compute what it computed before.
#pragma once

#include <span>
#include <string>

#include "bitale/core/array.hpp"
#include "bitale/graph/function_graph.hpp"

namespace bitale::test {

// Names the pass and says what is wrong; "" when all is well. `parallel`: with loops for several threads. The passes
// after "nest" combine numbers in the same order, but for the chunks of parallel loops.
std::string pass_trouble(const FunctionGraph& graph, std::span<const Array> values, bool parallel);

}  // namespace bitale::test
