// ifelse: a choice between values of which only one is computed.
#pragma once

#include <span>

#include "bitale/ops/operand.hpp"

namespace bitale {

// `then_branch` where the scalar condition is true (not zero), else `else_branch`. Only what the chosen branch needs is
// computed, and an error in the other does not appear: use it where a branch is expensive or may fail; switch_ selects
// element by element. Both have the same dtype and rank (TypeError); lengths may differ. The gradient is that of the
// chosen branch; the pullback of a branch that is not taken is computed with a cotangent of zeros. After
// pytensor.ifelse.
Variable ifelse(const Operand& condition, const Operand& then_branch, const Operand& else_branch);
// The same with several values per branch (ValueError for lists of different lengths, or none).
Variables ifelse(const Operand& condition, const Variables& then_branch, const Variables& else_branch);

}  // namespace bitale
