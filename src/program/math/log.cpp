// log, log2, log10, log1p: x = m 2^k, and log m through s = f / (2 + f), f = m - 1.
#include <cmath>
#include <limits>

#include "program/math/core.hpp"
#include "program/math/math.hpp"

namespace bitale::program::math {

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

// `value` where x is positive and finite; the limits at 0 and infinity; nan for nan and below 0.
Expr with_limits(Expr x, Expr value) {
  const Expr at_zero_or_below = select(equal(x, 0), -inf, x.pool().number(std::nan(""), x.dtype()));
  return select(x > 0, select(x < inf, value, x), at_zero_or_below);
}

}  // namespace

namespace {

std::int64_t sqrt_half_bits(const Format& format) { return format.is_double ? 0x3fe6a09e667f3bcd : 0x3f3504f3; }

// The bits of x, seen from sqrt(1/2): the exponent field counts the powers of two that m must give away.
Expr shifted_bits(Expr x) {
  const Format format(x.dtype());
  const std::int64_t one = format.bias() << format.mantissa();
  return bitcast(x, format.bits()) + x.pool().integer(one - sqrt_half_bits(format), format.bits());
}

Expr mantissa_mask(Expr x) {
  const Format format(x.dtype());
  return x.pool().integer((std::int64_t(1) << format.mantissa()) - 1, format.bits());
}

// 2^-k of the decomposition of x, |k| <= bias.
Expr inverse_power(Expr x) {
  const Format format(x.dtype());
  const Expr exponent = shifted_bits(x) & ~mantissa_mask(x);
  return bitcast(x.pool().integer(2 * format.bias() << format.mantissa(), format.bits()) - exponent, x.dtype());
}

}  // namespace

Decomposed decompose(Expr x) {
  const Format format(x.dtype());
  ExprPool& pool = x.pool();
  const Expr shifted = shifted_bits(x);
  const Expr m = (shifted & mantissa_mask(x)) + pool.integer(sqrt_half_bits(format), format.bits());
  // The field as a float: put it below the exponent of 2^mantissa and subtract that again.
  const double base = format.is_double ? 0x1p52 : 0x1p23;
  const std::int64_t base_bits = (format.bias() + format.mantissa()) << format.mantissa();
  const Expr field = (shifted >> format.mantissa()) | pool.integer(base_bits, format.bits());
  return {bitcast(m, x.dtype()), bitcast(field, x.dtype()) - (base + double(format.bias()))};
}

Decomposed decompose_any(Expr x) {
  const bool is_double = Format(x.dtype()).is_double;
  const double smallest_normal = is_double ? 0x1p-1022 : 0x1p-126, lift = is_double ? 54 : 25;
  const Expr is_small = x < smallest_normal;
  const auto [m, k] = decompose(select(is_small, x * std::exp2(lift), x));
  return {m, select(is_small, k - lift, k)};
}

namespace {

// s = f / (2 + f), z = s^2, and P in log(1 + f) = 2 s + s z P(z): z P to 2^-58.5 (float64) and 2^-29.2 (float32).
struct Series {
  Expr s, z, p;
};
Series log1p_series(Expr f) {
  const Expr s = f / (f + 2.0), z = s * s;
  const Expr p = Format(f.dtype()).is_double
                     ? polynomial(z, {0.66666666666667344222, 0.39999999999414528087, 0.2857142874243523997,
                                      0.22222198567102774103, 0.1818356469607931842, 0.15314039849337300471,
                                      0.14796068148242765927})
                     : polynomial(z, {0.666667764052, 0.399775379064, 0.298718418717});
  return {s, z, p};
}

}  // namespace

Expr log1p_bend(Expr f) {
  // In float32 a polynomial in f costs less than the quotient; log(1 + f) to 2^-27.5.
  if (!Format(f.dtype()).is_double)
    return f * f *
           polynomial(f, {0.499999881, -0.333333254, 0.250015825, -0.200019747, 0.166090846, -0.14181821, 0.132429704,
                          -0.129044548, 0.0762184337});
  // 2 s = f - s f, and s f is written as f^2/2 less what makes the leading terms exact.
  const auto [s, z, p] = log1p_series(f);
  const Expr half_square = f * f * 0.5;
  return half_square - s * fma(z, p, half_square);
}

Expr log1p_kernel(Expr f) { return f - log1p_bend(f); }

namespace {

// k log 2 + f - bend
Expr add_multiple_of_log_2(Expr k, Expr f, Expr bend) {
  const auto [high, low] = log_2_pieces(Format(k.dtype()));
  ExprPool& pool = k.pool();
  // In float32 one ulp is met without the next steps.
  if (!Format(k.dtype()).is_double)
    return fma(k, pool.number(high, k.dtype()), f - fma(k, pool.number(-low, k.dtype()), bend));
  const Expr sum = fma(k, pool.number(high, k.dtype()), f);
  const Expr lost = f - fma(k, pool.number(-high, k.dtype()), sum);  // what rounding took, exactly
  return sum + (lost - fma(k, pool.number(-low, k.dtype()), bend));
}

}  // namespace

Expr log_of_scaled(Expr k, Expr f) { return add_multiple_of_log_2(k, f, log1p_bend(f)); }
Expr log_of_scaled(Expr k, Expr f, Expr excess) { return add_multiple_of_log_2(k, f, log1p_bend(f) + excess); }

Sum sum_exactly(Expr a, Expr b) {
  const Expr high = a + b;
  return {high, (a - high) + b};
}

Sum log_with_tail(Expr x) {
  const auto [m, k] = decompose_any(x);
  ExprPool& pool = x.pool();
  const auto number = [&](double value) { return pool.number(value, x.dtype()); };
  // As log1p_kernel; what is rounded is at most 2^-5 of the result.
  const Expr f = m - 1.0, half = f * 0.5, half_square = half * f, square_rest = fma(half, f, -half_square);
  const auto [s, z, p] = log1p_series(f);
  const Sum near = sum_exactly(f, -half_square);
  const Expr rest = near.low + (s * fma(z, p, half_square) - square_rest);
  const auto [log_2_high, log_2_low] = log_2_pieces(Format(x.dtype()));
  const Sum total = sum_exactly(k * log_2_high, near.high);
  const Expr low = fma(k, number(log_2_low), total.low + rest);
  return sum_exactly(total.high, low);
}

Expr log_of_normal(Expr x) {
  const auto [m, k] = decompose(x);
  return log_of_scaled(k, m - 1.0);
}

Expr log(Expr x) {
  const auto [m, k] = decompose_any(x);
  return with_limits(x, log_of_scaled(k, m - 1.0));
}

Expr log2(Expr x) {
  const bool is_double = Format(x.dtype()).is_double;
  const auto [m, k] = decompose_any(x);
  const Expr natural = log1p_kernel(m - 1.0);
  auto times = [&](double factor, Expr plus) { return fma(natural, x.pool().number(factor, x.dtype()), plus); };
  return with_limits(x, is_double ? times(1.4426950408889634, natural * 2.0355273740931033e-17 + k)
                                  : times(1.4426950216293335, natural * 1.9259629911266175e-08 + k));
}

Expr log10(Expr x) {
  const bool is_double = Format(x.dtype()).is_double;
  const auto [m, k] = decompose_any(x);
  ExprPool& pool = x.pool();
  auto number = [&](double value) { return pool.number(value, x.dtype()); };
  // k log10(2) + log(m) log10(e); a small log(m) must keep its digits, so its product comes before the sum.
  const double two_high = is_double ? 0.3010299956639812 : 0.3010300099849701;
  const double two_low = is_double ? -2.8037281277851704e-18 : -1.4320988897559699e-08;
  const double e_high = is_double ? 0.4342944819032518 : 0.4342944920063019;
  const double e_low = is_double ? 1.098319650216765e-17 : -1.0103050052231683e-08;
  const Expr natural = log1p_kernel(m - 1.0);
  const Expr part = fma(natural, number(e_high), fma(natural, number(e_low), k * two_low));
  return with_limits(x, fma(k, number(two_high), part));
}

Expr log1p_moderate(Expr x) {
  const Format format(x.dtype());
  const Expr one = x.pool().number(1, x.dtype()), u = x + 1.0;
  const Expr lost = min(x, one) - (u - max(x, one));  // 1 + x = u + lost exactly
  const auto [m, k] = decompose(u);
  // Far from 1 what was lost does not matter, and 2^-k may not be a number.
  const double far = format.is_double ? 0x1p60 : 0x1p30;
  const Expr f = m - 1.0;
  return log_of_scaled(k, select(x < far, fma(lost, inverse_power(u), f), f));
}

Expr log1p(Expr x) {
  const Expr at_minus_one_or_below = select(equal(x, -1), -inf, x.pool().number(std::nan(""), x.dtype()));
  const Expr value = copysign(log1p_moderate(x), x);  // of -0 too
  return select(x > -1.0, select(x < inf, value, x), at_minus_one_or_below);
}

}  // namespace bitale::program::math
