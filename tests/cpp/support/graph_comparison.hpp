// The reference values of a random graph, and the comparison of computed values with them up to rounding.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "support/shrink.hpp"

namespace bitale::test {

// The values of the graph, by perform of each node.
struct Reference {
  std::vector<Array> results;  // of the outputs
  // Whether every value in the graph, not only those of its outputs, is a finite number. If one is not, rules that
  // widen a domain may change results.
  bool is_finite;
};
Reference reference(const Case& graph);
// A way to compute the outputs of a graph.
using Run = std::function<std::vector<Array>(const Case&)>;
// The difference of the results of a run from the reference, beyond rounding, or nothing. Where values differ by more
// than a tolerance, relative to the largest, the reference is evaluated again with each result of a node perturbed by a
// few units in the last place: elements that change as much are not wrong, nor is an error that occurs then. Rewriting
// may give exact values where the graph as built rounds, such as the identity for solve(a, a), and discrete results may
// depend on that; so the reference is evaluated once more with the intermediate values of the run, each of which is
// used only if it is the result of its node up to rounding.
std::string difference(const Case& graph, const Run& run, std::span<const Array> expected);
// The same for values that were computed from the graph as built.
std::string difference(const Case& graph, std::span<const Array> got, std::span<const Array> expected);

}  // namespace bitale::test
