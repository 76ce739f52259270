// Shrinking: from a graph that fails to a small one that still fails, by delta debugging. Parts of the graph become its
// outputs, nodes give way to one of their operands or to an input that holds their value, lengths get shorter and
// values rounder, as long as the failure stays. All generators of random graphs use it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bitale/core/array.hpp"
#include "bitale/graph/variable.hpp"

namespace bitale::test {

struct Case {
  Variables inputs, outputs;
  std::vector<Array> values;  // of the inputs
};

// Whether the case still shows the failure. One that can't even be evaluated as built does not; what this throws counts
// as not failing.
using Fails = std::function<bool(const Case&)>;

// `fails` must hold of the case as given; it is asked at most `most_tries` times.
Case shrink(Case failing, const Fails& fails, int most_tries = 2000);

// The inputs with types and values, then the outputs as dprint.
std::string describe(const Case& failing);

}  // namespace bitale::test
