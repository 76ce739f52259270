// The same computation for a batch of inputs.
#pragma once

#include <functional>
#include <string>

#include "bitale/graph/traversal.hpp"
#include "bitale/ops/operand.hpp"

namespace bitale {

// The outputs over inputs that have gained leading batch dimensions: every node that a replaced variable reaches takes
// batches. A replacement has the replaced variable's dtype and at least its rank.
Variables vectorize_graph(const Variables& outputs, const Replacements& replacements);

using GraphFunction = std::function<Variables(const Variables&)>;
// The function for batches: their dimensions come before those that the signature names ("(m,n),(n)->(m)"). Without
// one, inputs and outputs are scalars. ValueError for a text that is no signature, for inputs with fewer dimensions
// than it says, and for outputs with others.
std::function<Variables(const Operands&)> vectorize(GraphFunction function, const std::string& signature = {});

}  // namespace bitale
