// What an op with an inner graph derives from it: the lengths of the outputs, which output depends on which input, and
// the check of an argument against the type of its inner variable.
#pragma once

#include <string>
#include <vector>

#include "bitale/graph/inner_graph.hpp"

namespace bitale {

// Lengths of the outputs in terms of the lengths, and values, of the graph's inputs.
struct InnerLengths {
  std::vector<Shape> inputs;   // a leaf per length that is not static
  std::vector<Shape> outputs;  // empty when an output's length is only known from a computed value
};
InnerLengths inner_lengths(const InnerGraph& graph);
// The lengths of the outputs when the graph is applied to these arguments, which have these lengths; empty if they are
// not known.
std::vector<Shape> applied_lengths(const InnerGraph& graph, const InnerLengths& lengths,
                                   std::span<const Variable> arguments, std::span<const Shape> shapes);

// [input][output]: whether the output depends differentiably on the input, by the connection patterns of the nodes.
std::vector<std::vector<bool>> inner_connections(const InnerGraph& graph);

// `x` as a value of `like`'s type: unchanged, or with the static lengths of the type, which are checked when it is
// computed. A constant is converted if the type's dtype can hold its dtype. Throws a TypeError for any other dtype or
// rank, or for a static length that differs; `what` names the argument and the op.
Variable filtered(const Variable& x, const Type& like, const std::string& what);

}  // namespace bitale
