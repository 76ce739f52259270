// The batches that vectorize_graph computes without a loop over their elements.
#pragma once

#include "bitale/graph/traversal.hpp"

namespace bitale {

enum class BatchAxis { first, last };

// vectorize_graph of ops' own batches. NotImplementedError where an op has none.
Variables batched_graph(const Variables& outputs, const Replacements& replacements);
// With BatchAxis::last, inputs have gained a dimension behind their own, and outputs have it there, too.
Variables batched_graph(const Variables& outputs, const Replacements& replacements, BatchAxis where);

}  // namespace bitale
