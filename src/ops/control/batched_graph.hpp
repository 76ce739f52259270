// The batches that vectorize_graph computes without a loop over their elements.
#pragma once

#include "bitale/graph/traversal.hpp"

namespace bitale {

// vectorize_graph of ops' own batches. NotImplementedError where an op has none.
Variables batched_graph(const Variables& outputs, const Replacements& replacements);

}  // namespace bitale
