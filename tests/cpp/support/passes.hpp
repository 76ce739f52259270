// Tests of single passes of the lowering: the Program after a pass is interpreted, and must have the same results as
// before.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "bitale/core/array.hpp"
#include "bitale/graph/function_graph.hpp"

namespace bitale::test {

// The difference of results from the expected ones beyond rounding, or "".
using Comparison = std::function<std::string(std::span<const Array> got, std::span<const Array> expected)>;
std::string difference_beyond_rounding(std::span<const Array> got, std::span<const Array> expected);

// The name of the pass that changes results, with the difference, or "". `parallel`: with loops for several threads.
// The passes after "nest" keep the order of arithmetic, except for the chunks of parallel loops and for products that
// are contracted into unrolled sums: results after those passes are compared by `rounded`.
std::string pass_trouble(const FunctionGraph& graph, std::span<const Array> values, bool parallel,
                         const Comparison& rounded = difference_beyond_rounding);

}  // namespace bitale::test
