// ifelse: a choice between values of which only one is computed.
#pragma once

#include <span>

#include "bitale/ops/operand.hpp"

namespace bitale {

// `then_branch` where the scalar condition is true (not zero), else `else_branch`. Only what the chosen branch needs is
// computed, and an error in the other does not appear: use it where a branch is dear or may fail; switch_ picks element
// by element. Both have the same dtype and rank (TypeError); lengths may differ. Its gradient is that of the chosen
// branch; what leads from a branch to an input is computed with a cotangent of zeros if the branch is not taken.
// After pytensor.ifelse.
Variable ifelse(const Operand& condition, const Operand& then_branch, const Operand& else_branch);
// The same for as many values on either side (ValueError for lists of different lengths, or none).
Variables ifelse(const Operand& condition, const Variables& then_branch, const Variables& else_branch);

}  // namespace bitale
