// The batches that vectorize_graph computes without a loop over their elements.
#pragma once

#include "bitale/graph/traversal.hpp"
#include "graph/batch.hpp"

namespace bitale {

// vectorize_graph of ops' own batches. NotImplementedError where an op has none.
Variables batched_graph(const Variables& outputs, const Replacements& replacements);
// With BatchAxis::last, inputs have gained a dimension behind their own, and outputs have it there, too.
Variables batched_graph(const Variables& outputs, const Replacements& replacements, BatchAxis where);
// The same. Where an op has no form for the last axis, the whole batch is moved to the first one and back; where one
// has none at all, there is a loop over the batch.
Variables vectorize_graph(const Variables& outputs, const Replacements& replacements, BatchAxis where);

}  // namespace bitale
