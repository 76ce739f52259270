// Shrinking of a failing graph to a small one that still fails, by delta debugging. Parts of the graph become its
// outputs, nodes are replaced by one of their operands or by an input with their value, lengths are shortened and
// values rounded, as long as the failure persists. All generators of random graphs use it.
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

// Whether the case still fails. A case that can't be evaluated as built does not; an exception of this function counts
// as not failing.
using Fails = std::function<bool(const Case&)>;

// `fails` must hold for the given case; it is called at most `max_tries` times.
Case shrink(Case failing, const Fails& fails, int max_tries = 2000);

// The inputs with types and values, then the outputs as dprint.
std::string describe(const Case& failing);

}  // namespace bitale::test
