// Whether a rule that differentiation uses is an equation of functions, not only of values: the derivatives of both
// sides must agree, also at the points where a formula has a special case.
#pragma once

#include <string>
#include <vector>

#include "bitale/rewriting/rules.hpp"

namespace bitale::rewriting {

// Whether derivatives are taken of expressions after the rule (rewriting/stabilizing.hpp).
bool is_applied_before_differentiation(const Rule& rule);

// A complaint about the first or second derivatives of the sums of the two sides by one of the inputs of float64, each
// taken of the side as it is written; "" if they agree. `values`: of the inputs. Where the derivative of the left side
// is not finite, nothing is claimed; where the two differ and the left side loses digits, differences of the right
// side's values decide.
std::string derivative_complaint(const Variable& left, const Variable& right, const Variables& inputs,
                                 const std::vector<Array>& values);

}  // namespace bitale::rewriting
