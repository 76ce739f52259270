// Elementwise expressions in exact arithmetic: what both sides of a rule should be. A table gives the exact forms of
// scalar ops; an op without one makes the expression one that has no exact value.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "bitale/graph/variable.hpp"
#include "runtime/exact.hpp"

namespace bitale {

// None where the mathematics has no value: a division by zero, a logarithm of a negative number.
using ExactValue = std::optional<exact::Number>;
using ExactLeaves = std::unordered_map<const VariableNode*, double>;

// The name of an op in the expression that has no exact form; "" when all have.
std::string without_exact_form(const Variable& expression);
// The value of an expression whose ops all have one, given its leaves' values. InternalError for other ops.
ExactValue exact_value(const Variable& expression, const ExactLeaves& leaves);

}  // namespace bitale
