// Nodes that compute batches whose dimension is the last one: elements of a batch are adjacent, so that loops over them
// are the innermost ones, without conflicts where elements are gathered or added by index.
#pragma once

#include <vector>

#include "bitale/graph/variable.hpp"

namespace bitale {

// The outputs of the node for inputs some of which have gained a last dimension. NotImplementedError for an op that has
// no form for this, such as decompositions of matrices, whose elements must be adjacent.
Variables with_batch_last(const Apply& node, const Variables& inputs);

}  // namespace bitale
