// exp, exp2, expm1: x = n log 2 + r, a polynomial in r, and n added to the exponent.
#include <cmath>
#include <limits>

#include "program/math/core.hpp"
#include "program/math/math.hpp"

namespace bitale::program::math {

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

// A nan passes: `min` and `max` give their second argument where they can't compare.
Expr at_least(double low, Expr x) { return max(x.pool().number(low, x.dtype()), x); }
Expr at_most(double high, Expr x) { return min(x.pool().number(high, x.dtype()), x); }

// `x * factor` rounded to a whole number n, as n + shifter: its low bits hold n as an integer.
Expr nearest(Expr x, double factor) {
  return fma(x, x.pool().number(factor, x.dtype()), x.pool().number(Format(x.dtype()).shifter(), x.dtype()));
}

// (exp(r) - 1 - r) / r^2, |r| <= log(2) / 2, to 2^-55.6 (float64) and 2^-26.2 (float32) of exp(r) - 1.
Expr exp_series(Expr r) {
  return Format(r.dtype()).is_double
             ? polynomial(r, {0.50000000000000054926, 0.16666666666666685887, 0.041666666666574110844,
                              0.0083333333333146386635, 0.00138888889322534164, 0.00019841269902955413412,
                              0.000024801504572280829522, 2.7557228003712687785e-6, 2.7626282879363932659e-7,
                              2.5114461942174880821e-8})
             : polynomial(r, {0.500000006187, 0.166665431195, 0.041666282191, 0.00836657172173, 0.00139464407493});
}

// exp(r) 2^n, |r| <= log(2) / 2, n = shifted - shifter; infinite where x, of whatever scale, exceeds its bound.
Expr assemble(Expr r, Expr shifted, Expr x, double bound) {
  const Expr one = x.pool().number(1, x.dtype()), power = fma(fma(exp_series(r), r, one), r, one);
  return select(x <= bound, scale(power, shifted), x * inf);  // a nan comes out of the product
}

}  // namespace

Expr add_to_exponent(Expr value, Expr shifted) {
  const DType bits = Format(value.dtype()).bits();
  const Expr n = bitcast(shifted, bits) << Format(value.dtype()).mantissa();
  return bitcast(bitcast(value, bits) + n, value.dtype());
}

Expr scale(Expr value, Expr shifted) {
  const Format format(value.dtype());
  // What would be subnormal is kept 2^64 times larger, and rounded by a product.
  const Expr is_small = shifted < format.shifter() - double(format.bias() - 10);
  const Expr scaled = add_to_exponent(value, select(is_small, shifted + 64.0, shifted));
  return select(is_small, scaled * 0x1p-64, scaled);
}

Reduced reduce_by_log_2(Expr x) {
  const auto [high, low] = log_2(Format(x.dtype()));
  ExprPool& pool = x.pool();
  const Expr shifted = nearest(x, 1.4426950408889634), n = shifted - Format(x.dtype()).shifter();
  const Expr r = fma(n, pool.number(-high, x.dtype()), x);
  return {shifted, fma(n, pool.number(-low, x.dtype()), r)};
}

ReducedSum reduce_by_log_2(Sum x) {
  const DType dtype = x.high.dtype();
  const auto [high, low] = log_2(Format(dtype));
  ExprPool& pool = x.high.pool();
  const Expr shifted = nearest(x.high, 1.4426950408889634), n = shifted - Format(dtype).shifter();
  const Expr r = fma(n, pool.number(-high, dtype), x.high);
  return {shifted, sum_exactly(r, fma(n, pool.number(-low, dtype), x.low))};
}

Expr expm1_kernel(Expr r) { return fma(r * r, exp_series(r), r); }

// The lower bounds are just beyond where the result is 0; the upper ones the last numbers below log(2^1024) and
// log(2^128).
Expr exp(Expr x) {
  const bool is_double = Format(x.dtype()).is_double;
  const auto [shifted, r] = reduce_by_log_2(at_least(is_double ? -746 : -106, x));
  return assemble(r, shifted, x, is_double ? 709.782712893384 : 88.72283172607422);
}

Expr half_exp(Expr x) {
  const bool is_double = Format(x.dtype()).is_double;
  const auto [shifted, r] = reduce_by_log_2(at_least(is_double ? -746 : -106, x));
  return assemble(r, shifted - 1.0, x, is_double ? 710.4758600739439 : 89.41598510742188);
}

Expr exp2(Expr x) {
  const Format format(x.dtype());
  const Expr bounded = at_least(format.is_double ? -1077 : -152, x);
  const Expr shifted = nearest(bounded, 1), f = bounded - (shifted - format.shifter());
  const auto [high, low] = log_2(format);
  const Expr r = fma(f, x.pool().number(high, x.dtype()), f * low);
  return assemble(r, shifted, x, format.is_double ? 0x1.fffffffffffffp+9 : 0x1.fffffep+6);
}

Expr expm1_moderate(Expr x) {
  const auto [shifted, r] = reduce_by_log_2(x);
  const Expr power = add_to_exponent(x.pool().number(1, x.dtype()), shifted);
  return fma(power, expm1_kernel(r), power - 1.0);
}

Expr expm1(Expr x) {
  const Format format(x.dtype());
  const Expr bounded = format.is_double ? at_least(-40, at_most(709.9, x)) : at_least(-20, at_most(88.8, x));
  const auto [shifted, r] = reduce_by_log_2(bounded);
  // Half of the result, because 2^n itself may be too large: n is at most 1024 (128).
  const Expr power = add_to_exponent(x.pool().number(0.5, x.dtype()), shifted);
  const Expr half = fma(power, expm1_kernel(r), power - 0.5);
  return select(abs(x) < format.tiny(), x, half + half);
}

}  // namespace bitale::program::math
