// Vectorization: the same computation for a batch of inputs.
#pragma once

#include <functional>
#include <string>

#include "bitale/graph/traversal.hpp"
#include "bitale/ops/operand.hpp"

namespace bitale {

// The outputs for inputs that have gained leading batch dimensions: every node that depends on a replaced variable
// computes batches. A replacement has the replaced variable's dtype and at least its rank.
Variables vectorize_graph(const Variables& outputs, const Replacements& replacements);

using GraphFunction = std::function<Variables(const Variables&)>;
// The function for batches: batch dimensions come before those that the signature names ("(m,n),(n)->(m)"). Without a
// signature, inputs and outputs are scalars. ValueError for an invalid signature, for inputs with fewer dimensions than
// it names, and for outputs with a different number of dimensions.
std::function<Variables(const Operands&)> vectorize(GraphFunction function, const std::string& signature = {});

// The results of a function of vectors for each vector along an axis; the dimensions of a result, if it has any, are in
// the position of that axis. AxisError for an axis that does not exist.
Variable apply_along_axis(const std::function<Variable(const Variable&)>& function, int axis, const Operand& x);

}  // namespace bitale
