// The rules of the phase `stabilize` that are not merely structural; differentiation applies these, too.
#pragma once

#include <optional>

#include "bitale/rewriting/rewriting.hpp"

namespace bitale::rewriting {

const RewriteQuery& stabilizing();

// The result of the first of these rules that fires on a node over the graph's variables. The node itself is not in the
// graph, so that a rule can query the result of another order of operations.
std::optional<Variable> stable_form_of(FunctionGraph& graph, const Apply& node);

}  // namespace bitale::rewriting
