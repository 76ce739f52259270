// Literals: constants made of numbers without a dtype, as they stand in a program. Next to an operand that has a dtype
// they take as few bits as they need, so that they do not widen it; among themselves nothing says how many bits are
// wanted. For rewrite rules there are none: the constants of a graph have their dtypes.
#pragma once

#include <span>

#include "bitale/graph/variable.hpp"

namespace bitale {

Variable literal(Array value);
bool is_literal(const Variable& v);
// The values of one operation: integers of 64 bits where all are integer literals, unless config.cast_policy is
// "pytensor"; else as they are.
Variables with_literal_widths(std::span<const Variable> values);

}  // namespace bitale
