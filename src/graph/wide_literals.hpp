// Functions of float literals alone are computed in float64, since nothing asks for float32: unless floatX is float32,
// or config.cast_policy is "pytensor".
#pragma once

#include "bitale/graph/variable.hpp"

namespace bitale {

bool literals_are_wide();
// The only operand of a function of floats: a float literal in the dtype in which it is computed, others as they are.
Variable with_wide_literal(const Variable& v);

}  // namespace bitale
