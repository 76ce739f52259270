// Each pass of the lowering alone: the Program after a pass is interpreted, and must compute what it computed before.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "bitale/core/array.hpp"
#include "bitale/graph/function_graph.hpp"

namespace bitale::test {

// What is wrong with results that may differ from those expected by rounding; "" when nothing is.
using Comparison = std::function<std::string(std::span<const Array> got, std::span<const Array> expected)>;
std::string difference_beyond_rounding(std::span<const Array> got, std::span<const Array> expected);

// Names the pass and says what is wrong; "" when all is well. `parallel`: with loops for several threads. The passes
// after "nest" combine numbers in the same order, but for the chunks of parallel loops and products that are contracted
// into the sums that are written out: results after these two are compared by `rounded`.
std::string pass_trouble(const FunctionGraph& graph, std::span<const Array> values, bool parallel,
                         const Comparison& rounded = difference_beyond_rounding);

}  // namespace bitale::test
