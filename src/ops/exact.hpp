// Elementwise expressions in exact arithmetic: what both sides of a rule should be. The records of scalar
// ops have exact forms; an op without one makes the expression one that has no exact value.
#pragma once

#include <string>
#include <unordered_map>

#include "bitale/graph/variable.hpp"
#include "ops/scalar_op.hpp"
#include "runtime/exact.hpp"

namespace bitale {

using ExactLeaves = std::unordered_map<const VariableNode*, double>;

// The name of an op in the expression that has no exact form; "" when all have.
std::string without_exact_form(const Variable& expression);
// The value of an expression whose ops all have one, given its leaves' values. InternalError for other ops.
ExactValue exact_value(const Variable& expression, const ExactLeaves& leaves);

}  // namespace bitale
