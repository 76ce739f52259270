// cbrt, pow. The cube root of m 2^(3 q) is 2^q times that of m: a polynomial for m^(-1/3), one step of an iteration,
// and a last step with an exact remainder; no division. pow is exp(y log |x|), with the logarithm to twelve bits more
// than the format has, because the product multiplies its error by up to 745. With s = (m - 1) / (m + 1), log m = 2 s +
// 2/3 s^3 + ...: s and the first two terms are carried in two pieces. Special values are those of C (ISO C, F.10.4.4).
#include <cmath>

#include "core/limits.hpp"
#include "program/math/core.hpp"
#include "program/math/math.hpp"

namespace bitale::program::math {

namespace {

// (log((1 + s) / (1 - s)) - 2 s - 2/3 s^3) / s^5 by z = s^2 <= 0.0295, to 2^-57.6 (float64) and 2^-21.3 (float32).
Expr log_tail(Expr z) {
  return Format(z.dtype()).is_double
             ? long_polynomial(
                   z, {0.39999999999999999817, 0.28571428571429367487, 0.22222222221655239471, 0.18181818335517402153,
                       0.15384594951138833477, 0.13334805224329062454, 0.11706224150228074184, 0.11723287938031345765})
             : polynomial(z, {0.400000150811, 0.285622297659, 0.230484325506});
}

}  // namespace

Sum log_in_two_pieces(Expr x) {
  const Format format(x.dtype());
  const auto number = [&](double value) { return x.pool().number(value, x.dtype()); };
  const auto [m, k] = decompose_any(x);
  const Expr f = m - 1.0, inverse = 1.0 / (m + 1.0);
  const Sum divisor = sum_exactly(number(1), m);
  const Expr s = f * inverse, s_low = fma(-s, divisor.low, residual(-s, divisor.high, f)) * inverse;
  const Expr z = s * s, z_low = fma(s + s, s_low, residual(s, s, -z));
  // t = 2/3 z + z^2 tail, log m = s (2 + t)
  const double third_high = format.is_double ? 0.6666666666666666 : 0.6666666865348816;
  const double third_low = format.is_double ? 3.700743415417188e-17 : -1.9868214925130207e-08;
  const Expr two_thirds = number(third_high), t = z * two_thirds;
  const Expr t_rest = fma(z, number(third_low), fma(z_low, two_thirds, residual(z, two_thirds, -t)));
  const Expr t_low = fma(z * z, log_tail(z), t_rest);
  const Expr product = s * t;
  const Expr product_low = fma(s, t_low, fma(s_low, t + 2.0, residual(s, t, -product)));
  const Sum near = sum_exactly(s + s, product);
  const auto [log_2_high, log_2_low] = log_2_pieces(format);
  const Sum total = sum_exactly(k * log_2_high, near.high);
  return sum_exactly(total.high, total.low + fma(k, number(log_2_low), near.low + product_low));
}

Expr exp_of_sum(Sum x) {
  const Format format(x.high.dtype());
  const auto number = [&](double value) { return x.high.pool().number(value, x.high.dtype()); };
  // Just beyond where the result is 0 and infinite.
  const double lowest = format.is_double ? -746 : -106, highest = format.is_double ? 710 : 89;
  const Expr high = max(number(lowest), min(number(highest), x.high));
  const auto [shifted, n, r] = reduce_by_log_2(Sum{high, select(equal(high, x.high), x.low, 0.0)});
  const Expr e = expm1_kernel(r.high);
  return scale(1.0 + (e + fma(r.low, e, r.low)), n);
}

Expr pow(Expr x, Expr y) {
  ExprPool& pool = x.pool();
  const auto number = [&](double value) { return pool.number(value, x.dtype()); };
  const Expr size = abs(x);
  Sum log = log_in_two_pieces(size);
  log.high = select(equal(size, 0), -inf, select(size < inf, log.high, size));
  // An infinite exponent of 1 would give nan; this one is large enough for every other base.
  const double large = Format(x.dtype()).is_double ? 1e300 : 1e37;
  const Expr exponent = max(number(-large), min(number(large), y));
  const Expr product = exponent * log.high;
  const Expr power = exp_of_sum({product, fma(exponent, log.low, residual(exponent, log.high, -product))});
  const Expr half = y * 0.5, is_whole = equal(floor(y), y), is_odd = is_whole & not_equal(floor(half), half);
  const Expr is_real = is_whole | (x >= 0) | equal(x, -inf) | is_nan(x);
  const Expr value = select(is_real, select(is_odd, copysign(power, x), power), std::nan(""));
  return select(equal(x, 1) | equal(y, 0), 1.0, value);
}

Expr cbrt(Expr x) {
  const Format format(x.dtype());
  const auto number = [&](double value) { return x.pool().number(value, x.dtype()); };
  const Expr a = abs(x);
  const auto [m, k] = decompose_any(a);
  // k = 3 q + j, j in {-1, 0, 1}
  const Expr shifted = fma(k, number(1.0 / 3), number(format.shifter())), q = shifted - format.shifter();
  const Expr j = fma(q, number(-3), k), is_less = j<0, is_more = j> 0;
  const Expr t = m - 1.0625, scaled = m * select(is_more, number(2), select(is_less, number(0.5), 1.0));
  // m^(-1/3) to 2^-17.3 (float64) and 2^-14.6 (float32)
  const Expr rough = format.is_double
                         ? polynomial(t, {0.98000074320341102, -0.30747160751050917, 0.19207454146975031,
                                          -0.13997445423177013, 0.12728129512374875, -0.10770426771611363})
                         : polynomial(t, {0.980002284, -0.306905717, 0.191977337, -0.15742828, 0.128032088});
  const Expr r = rough * select(is_more, number(0.79370052598409974), select(is_less, number(1.2599210498948732), 1.0));
  // (1 - e)^(-1/3), e = 1 - scaled r^3
  const Expr e = fma(-(scaled * r), r * r, number(1));
  const Expr series = format.is_double ? polynomial(e, {1.0 / 3, 2.0 / 9, 14.0 / 81}) : number(1.0 / 3);
  const Expr better = fma(r * e, series, r), square = better * better;
  const Expr root = scaled * square;
  // root + (scaled - root^3) / (3 root^2)
  const Expr remainder = residual(-root, root * root, scaled);
  const Expr value = add_to_exponent(fma(remainder * (1.0 / 3), square, root), shifted);
  const Expr is_plain = (a > 0) & (a < inf);
  return select(is_plain, copysign(value, x), x);
}

}  // namespace bitale::program::math
