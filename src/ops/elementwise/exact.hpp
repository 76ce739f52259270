// Elementwise expressions in exact arithmetic: the values that both sides of a rule should have. The records of scalar
// ops have exact forms; an expression with an op that has none has no exact value.
#pragma once

#include <string>
#include <unordered_map>

#include "bitale/graph/variable.hpp"
#include "ops/elementwise/scalar_op.hpp"
#include "runtime/exact.hpp"

namespace bitale {

using ExactLeaves = std::unordered_map<const VariableNode*, double>;

// The name of an op in the expression that has no exact form, or "" if all have one.
std::string without_exact_form(const Variable& expression);
// The value of an expression whose ops all have an exact form, given its leaves' values. Throws an InternalError for
// other ops.
ExactValue exact_value(const Variable& expression, const ExactLeaves& leaves);

}  // namespace bitale
