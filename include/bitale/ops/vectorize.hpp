// The same computation for a batch of inputs.
#pragma once

#include "bitale/graph/traversal.hpp"

namespace bitale {

// The outputs over inputs that have gained leading batch dimensions: every node that a replaced variable reaches takes
// batches. A replacement has the replaced variable's dtype and at least its rank.
Variables vectorize_graph(const Variables& outputs, const Replacements& replacements);

}  // namespace bitale
