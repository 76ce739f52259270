// exp, exp2, expm1: x = n log 2 + r, a polynomial in r, and 2^n put into the exponent.
#include <cmath>

#include "program/math/core.hpp"
#include "program/math/math.hpp"

namespace bitale::program::math {

namespace {

// A nan passes: `min` and `max` give their second argument where they can't compare.
Expr clamp(Expr x, double low, double high) {
  ExprPool& pool = x.pool();
  return max(pool.number(low, x.dtype()), min(pool.number(high, x.dtype()), x));
}

// The nearest whole number of `x * factor`, by adding and subtracting a large number.
Expr nearest(Expr x, double factor, double shifter) {
  return fma(x, x.pool().number(factor, x.dtype()), x.pool().number(shifter, x.dtype())) - shifter;
}

// 1 + e, e = expm1_kernel(r), times 2^n.
Expr assemble(Expr e, Expr n) { return scale(e + 1.0, n); }

}  // namespace

Expr power_of_two(Expr n) {
  const Format format(n.dtype());
  const Expr bits = bitcast(n + format.shifter(), format.bits());
  return bitcast((bits + n.pool().integer(format.bias(), format.bits())) << format.mantissa(), format.dtype());
}

Expr scale(Expr value, Expr n) {
  const Format format(n.dtype());
  const Expr half = nearest(n, 0.5, format.shifter());
  return value * power_of_two(half) * power_of_two(n - half);
}

Reduced reduce_by_log_2(Expr x) {
  const Format format(x.dtype());
  const auto [high, low] = log_2(format);
  const Expr n = nearest(x, 1.4426950408889634, format.shifter());
  ExprPool& pool = x.pool();
  const Expr r = fma(n, pool.number(-high, x.dtype()), x);
  return {n, fma(n, pool.number(-low, x.dtype()), r)};
}

Expr expm1_kernel(Expr r) {
  // r + r^2 q(r), q(r) = (exp(r) - 1 - r) / r^2 to 2^-55.6 (float64) and 2^-26.2 (float32) of exp(r) - 1.
  const Expr q =
      Format(r.dtype()).is_double
          ? polynomial(
                r, {0.50000000000000054926, 0.16666666666666685887, 0.041666666666574110844, 0.0083333333333146386635,
                    0.00138888889322534164, 0.00019841269902955413412, 0.000024801504572280829522,
                    2.7557228003712687785e-6, 2.7626282879363932659e-7, 2.5114461942174880821e-8})
          : polynomial(r, {0.500000006187, 0.166665431195, 0.041666282191, 0.00836657172173, 0.00139464407493});
  return fma(r * r, q, r);
}

Expr scaled_exp(Expr x, double shift) {
  const bool is_double = Format(x.dtype()).is_double;
  // Just beyond where the result is 0 or infinite.
  const auto [n, r] = reduce_by_log_2(is_double ? clamp(x, -747, 711) : clamp(x, -106, 91));
  return assemble(expm1_kernel(r), shift == 0 ? n : n + shift);
}

Expr exp(Expr x) { return scaled_exp(x, 0); }

Expr exp2(Expr x) {
  const Format format(x.dtype());
  const Expr bounded = format.is_double ? clamp(x, -1077, 1025) : clamp(x, -152, 129);
  const Expr n = nearest(bounded, 1.0, format.shifter());
  const auto [high, low] = log_2(format);
  const Expr f = bounded - n, r = fma(f, x.pool().number(high, x.dtype()), f * low);
  return assemble(expm1_kernel(r), n);
}

Expr expm1_moderate(Expr x) {
  const auto [n, r] = reduce_by_log_2(x);
  const Expr power = power_of_two(n), e = expm1_kernel(r);
  return fma(power, e, power - 1.0);
}

Expr expm1(Expr x) {
  const Format format(x.dtype());
  const auto [n, r] = reduce_by_log_2(format.is_double ? clamp(x, -40, 709.9) : clamp(x, -20, 88.8));
  // Half of the result, because 2^n itself may be too large: n is at most 1024 (128).
  const Expr power = power_of_two(n - 1.0), half = fma(power, expm1_kernel(r), power - 0.5);
  return select(abs(x) < format.tiny(), x, half + half);
}

}  // namespace bitale::program::math
