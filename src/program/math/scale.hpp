// Multiplication by a power of two, for which some processors have an instruction: code generators recognise what
// `scale` builds.
#pragma once

#include <optional>

#include "bitale/program/expr.hpp"

namespace bitale::program::math {

// value * 2^n, rounded once, whether it overflows or is subnormal: for 2^-7 <= |value| < 2 and whole n in the range of
// exponents of the results, or as far again from it (|n| <= 1100; float32: 155). A sum does not contract with it.
Expr scale(Expr value, Expr n);

// value / 2^k for |value| <= 2^53, whole k > -2^7, and a result that is a normal number or may as well be 0: k is
// limited to the largest power of two that has a normal inverse. It is shorter than `scale`.
Expr unscale(Expr value, Expr k);

struct Scaled {
  Expr value, n;
};
// The operands from which `scale` or `unscale` has built this expression, if one has.
std::optional<Scaled> as_scaled(Expr expr);

}  // namespace bitale::program::math
