// The rules of the phase `stabilize` that do more than rearrange: those that differentiation applies, too.
#pragma once

#include <optional>

#include "bitale/rewriting/rewriting.hpp"

namespace bitale::rewriting {

const RewriteQuery& stabilizing();

// What the first of these rules that fires makes of a node over the graph's variables. The node itself is not in the
// graph: a rule may ask what would become of another order of operations.
std::optional<Variable> stable_form_of(FunctionGraph& graph, const Apply& node);

}  // namespace bitale::rewriting
