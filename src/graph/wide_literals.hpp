// Functions of float literals alone are computed in float64, since nothing asks for float32: unless floatX is float32,
// or config.cast_policy is "pytensor".
#pragma once

#include "bitale/graph/variable.hpp"

namespace bitale {

bool is_literal_computed_widely();
// The only operand of a function of floats; a float literal in the dtype in which it is computed.
Variable only_operand(const Variable& v);

}  // namespace bitale
