// Literals: constants made of numbers without a dtype, as they stand in a program. Beside an operand that has a dtype
// they take as few bits as they need, so that they do not widen it; among themselves nothing says how many bits are
// wanted.
#pragma once

#include "bitale/graph/variable.hpp"

namespace bitale {

Variable literal(Array value);
bool is_literal(const Variable& v);

}  // namespace bitale
