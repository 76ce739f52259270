// What a random graph means, and whether values that were computed of it are right up to rounding.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "support/shrink.hpp"

namespace bitale::test {

// What the graph means, by each node's perform.
struct Reference {
  std::vector<Array> results;  // of the outputs
  // Whether every value in the graph, not only those of its outputs, is a finite number. Rules that widen a domain
  // promise nothing else where one is not.
  bool is_finite;
};
Reference reference(const Case& graph);
// A way to compute the outputs of a graph.
using Run = std::function<std::vector<Array>(const Case&)>;
// Whether what is computed of the graph is what it means, up to rounding. Where values differ by more than a tolerance,
// relative to the largest, the reference is evaluated again with each result of a node moved by a few units in the last
// place: elements that this moves as far are not held to be wrong, nor is an error that it meets. Rewriting may know
// exactly what the graph as built computes with rounding, the identity for solve(a, a), and what is discrete then
// depends on it; so the reference is evaluated once more with the values that the run has inside the graph, each of
// which is taken only where it is the node's own value up to rounding. Says what is wrong; nothing when all is well.
std::string difference(const Case& graph, const Run& run, std::span<const Array> expected);
// The same of values that were computed from the graph as built.
std::string difference(const Case& graph, std::span<const Array> got, std::span<const Array> expected);

}  // namespace bitale::test
