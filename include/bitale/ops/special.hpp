// Special functions with more than one parameter, Bessel functions, and short formulas of them. Names and arguments are
// PyTensor's. Integers become floats as for exp. Domains are SciPy's, and so are values at limits where SciPy defines
// them.
#pragma once

#include "bitale/ops/operand.hpp"

namespace bitale {

// clang-format off
#define BITALE_SPECIAL_FUNCTIONS_OF_ONE(X) X(i0) X(i1) X(j0) X(j1) X(logit) X(ndtri_exp)
#define BITALE_SPECIAL_FUNCTIONS_OF_TWO(X)                                                                            \
  X(jv) X(iv) X(ive) X(ive_derivative) X(kv) X(kve) X(kve_derivative) X(owens_t) X(gammainc) X(gammaincc)             \
  X(gammaincinv) X(gammainccinv) X(gammainc_density) X(gammainc_derivative)
#define BITALE_SPECIAL_FUNCTIONS_OF_THREE(X)                                                                          \
  X(betainc) X(betaincinv) X(betainc_density) X(betainc_derivative) X(betainc_derivative_by_b)
#define BITALE_SPECIAL_FUNCTIONS_OF_FOUR(X) X(hyp2f1) X(hyp2f1_derivative) X(hyp2f1_derivative_by_c)
// clang-format on
#define BITALE_DECLARE(name) Variable name(const Operand& x);
BITALE_SPECIAL_FUNCTIONS_OF_ONE(BITALE_DECLARE)
#undef BITALE_DECLARE
#define BITALE_DECLARE(name) Variable name(const Operand& x, const Operand& y);
BITALE_SPECIAL_FUNCTIONS_OF_TWO(BITALE_DECLARE)
#undef BITALE_DECLARE
#define BITALE_DECLARE(name) Variable name(const Operand& x, const Operand& y, const Operand& z);
BITALE_SPECIAL_FUNCTIONS_OF_THREE(BITALE_DECLARE)
#undef BITALE_DECLARE
#define BITALE_DECLARE(name) Variable name(const Operand& a, const Operand& b, const Operand& c, const Operand& z);
BITALE_SPECIAL_FUNCTIONS_OF_FOUR(BITALE_DECLARE)
#undef BITALE_DECLARE

// kv of an integer order.
Variable kn(const Operand& order, const Operand& x);
// Incomplete gamma functions that are not regularised.
Variable gammal(const Operand& k, const Operand& x);
Variable gammau(const Operand& k, const Operand& x);
// The survival function of the chi-squared distribution with k degrees of freedom.
Variable chi2sf(const Operand& x, const Operand& k);
Variable beta(const Operand& a, const Operand& b);
Variable betaln(const Operand& a, const Operand& b);  // its logarithm
Variable factorial(const Operand& n);                 // gamma(n + 1)
Variable poch(const Operand& z, const Operand& m);    // gamma(z + m) / gamma(z)
Variable xlogx(const Operand& x);                     // x log(x), 0 at 0
// The nearest whole number; ties are rounded away from zero.
Variable round_half_away_from_zero(const Operand& x);
// round(x) as int64; ties are rounded as in round.
Variable iround(const Operand& x);

}  // namespace bitale
