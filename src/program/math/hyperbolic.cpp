// tanh through expm1; sinh and cosh through half of exp(|x|), which overflows where they do; the inverses through
// log1p.
#include <limits>

#include "core/limits.hpp"
#include "program/math/core.hpp"
#include "program/math/math.hpp"
#include "program/math/tanh_table.hpp"

namespace bitale::program::math {

Expr tanh(Expr x) {
  if (!Format(x.dtype()).is_double)
    return odd_by_steps(x, {tanh_step_of_float, tanh_bound_of_float, tanh_table_of_float});
  // (exp(2a) - 1) / (exp(2a) + 1); beyond the bound the result is 1.
  const Expr a = min(x.pool().number(22.0, x.dtype()), abs(x));
  const Expr t = expm1_moderate(a + a), below = t + 2.0, quotient = t / below;
  // The rounding error of the sum, which doesn't count near 1, times 1 / (t + 2) = (1 - tanh) / 2.
  const Expr lost = select(t < 2.0, t - (below - 2.0), 0.0), half = x.pool().number(0.5, x.dtype());
  return copysign(fma(quotient * lost, fma(quotient, half, -half), quotient), x);
}

Expr cosh(Expr x) {
  const Expr half_power = half_exp(abs(x));
  return half_power + 0.25 / half_power;
}

Expr sinh(Expr x) {
  const Expr a = abs(x), half_power = half_exp(a), z = a * a;
  // Below 1 the difference would cancel: a + a^3 S(a^2), to 2^-63 (float64) and 2^-34 (float32).
  const Expr series = Format(x.dtype()).is_double
                          ? polynomial(z, {0.1666666666666666743, 0.0083333333333331386952, 0.00019841269841437762448,
                                           2.7557319155310450292e-6, 2.5052123402883282614e-8,
                                           1.6057239994004431609e-10, 7.7593230470603643717e-13})
                          : polynomial(z, {0.166666664886, 0.00833335060337, 0.000198360651764, 2.81744601827e-6});
  return copysign(select(a < 1.0, fma(a * z, series, a), half_power - 0.25 / half_power), x);
}

namespace {

// log(1 + y), or log(1 + 2 y) where y is so large that doubling or squaring it may overflow.
Expr log1p_of_large(Expr y, Expr is_large) {
  return log1p_moderate(y) + select(is_large, 0.6931471805599453, y.pool().number(0, y.dtype()));
}

// Beyond this, sqrt(x^2 + 1) and x + 1 equal x.
double large(Expr x) { return Format(x.dtype()).is_double ? 0x1p60 : 0x1p30; }

}  // namespace

Expr asinh(Expr x) {
  // sqrt(1 + a^2) - 1 without cancellation.
  const Expr a = abs(x), square = a * a, is_large = a > large(x);
  const Expr y = select(is_large, a, a + square / (sqrt(square + 1.0) + 1.0));
  return copysign(select(a < inf, log1p_of_large(y, is_large), a), x);
}

Expr acosh(Expr x) {
  const Expr t = x - 1.0, is_large = x > large(x);
  const Expr y = select(is_large, x, t + sqrt(fma(t, t, t + t)));
  return select(x < inf, select(x >= 1, log1p_of_large(y, is_large), std::numeric_limits<double>::quiet_NaN()), x);
}

Expr atanh(Expr x) {
  const Expr a = abs(x), value = log1p_moderate((a + a) / (1.0 - a)) * 0.5;
  const Expr beyond = select(equal(a, 1), inf, x.pool().number(std::numeric_limits<double>::quiet_NaN(), x.dtype()));
  return copysign(select(a < 1.0, value, beyond), x);
}

}  // namespace bitale::program::math
