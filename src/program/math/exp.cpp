// exp, exp2, expm1: x = n log 2 + r, a polynomial in r, and n added to the exponent.
#include "program/math/exp.hpp"
#include "program/math/core.hpp"
#include "program/math/math.hpp"

namespace bitale::program::math {

namespace {

// A nan is kept: `min` and `max` return their second argument where they can't compare.
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

// (2^f - 1) / f, |f| <= 1/2, to 2^-58.0 (float64) and 2^-28.9 (float32) of 2^f.
Expr exp2_series(Expr f) {
  return Format(f.dtype()).is_double
             ? polynomial(f,
                          {0.69314718055994529, 0.2402265069591013, 0.055504108664820084, 0.0096181291075941172,
                           0.0013333558146774527, 0.00015403530457117439, 1.5252733493280663e-5, 1.3215435279333988e-6,
                           1.0178199485996974e-7, 7.0737838040658987e-9, 4.4347870600085279e-10})
             : polynomial(f, {0.693147182, 0.240226477, 0.0555033237, 0.00961843692, 0.00133988762, 0.000153534012});
}

// exp(r), |r| <= log(2) / 2
Expr exp_kernel(Expr r) {
  const Expr one = r.pool().number(1, r.dtype());
  return fma(fma(exp_series(r), r, one), r, one);
}

Expr exp_of_bounded(Expr x) {
  const auto [shifted, n, r] = reduce_by_log_2(x);
  return scale(exp_kernel(r), n);
}

// Just beyond where the result is 0, and where it is infinite.
double exp_lowest(DType dtype) { return Format(dtype).is_double ? -746 : -106; }
double exp_highest(DType dtype) { return Format(dtype).is_double ? 710 : 89; }

}  // namespace

Expr add_to_exponent(Expr value, Expr shifted) {
  const DType bits = Format(value.dtype()).bits();
  const Expr n = bitcast(shifted, bits) << Format(value.dtype()).mantissa();
  return bitcast(bitcast(value, bits) + n, value.dtype());
}

Reduced reduce_by_log_2(Expr x) {
  const auto [high, low] = log_2_pieces(Format(x.dtype()));
  ExprPool& pool = x.pool();
  const Expr shifted = nearest(x, 1.4426950408889634), n = shifted - Format(x.dtype()).shifter();
  const Expr r = fma(n, pool.number(-high, x.dtype()), x);
  return {shifted, n, fma(n, pool.number(-low, x.dtype()), r)};
}

ReducedSum reduce_by_log_2(Sum x) {
  const DType dtype = x.high.dtype();
  const auto [high, low] = log_2_pieces(Format(dtype));  // the first step is exact
  ExprPool& pool = x.high.pool();
  const Expr shifted = nearest(x.high, 1.4426950408889634), n = shifted - Format(dtype).shifter();
  const Expr r = fma(n, pool.number(-high, dtype), x.high);
  return {shifted, n, sum_exactly(r, fma(n, pool.number(-low, dtype), x.low))};
}

Expr expm1_kernel(Expr r) { return fma(r * r, exp_series(r), r); }

Expr exp(Expr x) { return exp_of_bounded(at_least(exp_lowest(x.dtype()), at_most(exp_highest(x.dtype()), x))); }

Expr exp_of_negative(Expr x) { return exp_of_bounded(at_least(exp_lowest(x.dtype()), x)); }

std::optional<BoundedExp> as_exp(Expr expr) {
  const auto scaled = as_scaled(expr);
  if (!scaled) return std::nullopt;
  // Descends through the reduction to the bounds, and from the upper one, where there is one, to x.
  Expr x = scaled->n;
  for (auto [code, argument] : {std::pair(Code::sub, 0), std::pair(Code::fma, 0), std::pair(Code::max, 1)}) {
    if (x.code() != code) return std::nullopt;
    x = x.argument(std::size_t(argument));
  }
  const bool is_negative = x.code() != Code::min || !(exp(x.argument(1)) == expr);
  if (is_negative && !(exp_of_negative(x) == expr)) return std::nullopt;
  if (!is_negative) x = x.argument(1);
  const Format format(x.dtype());
  const auto [shifted, n, r] = reduce_by_log_2(x);
  const Expr value = exp_kernel(r);
  return BoundedExp{.x = x,
                    .is_negative = is_negative,
                    .lowest = exp_lowest(x.dtype()),
                    .highest = exp_highest(x.dtype()),
                    .value = value,
                    .n = n,
                    .normal_up_to = format.is_double ? 707.0 : 86.0,
                    .normal = add_to_exponent(value, shifted)};
}

Expr half_exp(Expr x) {
  const bool is_double = Format(x.dtype()).is_double;
  const auto [shifted, n, r] = reduce_by_log_2(at_least(exp_lowest(x.dtype()), at_most(is_double ? 711 : 90, x)));
  return scale(exp_kernel(r), n - 1.0);
}

Expr exp2(Expr x) {
  const Format format(x.dtype());
  const Expr bounded = at_least(format.is_double ? -1077 : -152, at_most(format.is_double ? 1025 : 129, x));
  const Expr shifted = nearest(bounded, 1), n = shifted - format.shifter(), f = bounded - n;
  return scale(fma(f, exp2_series(f), x.pool().number(1, x.dtype())), n);
}

Expr expm1_moderate(Expr x) {
  const auto [shifted, n, r] = reduce_by_log_2(x);
  const Expr power = add_to_exponent(x.pool().number(1, x.dtype()), shifted);
  return fma(power, expm1_kernel(r), power - 1.0);
}

Expr expm1(Expr x) {
  const Format format(x.dtype());
  const Expr bounded = format.is_double ? at_least(-40, at_most(709.9, x)) : at_least(-20, at_most(88.8, x));
  const auto [shifted, n, r] = reduce_by_log_2(bounded);
  // Half of the result, because 2^n itself may be too large: n is at most 1024 (128).
  const Expr power = add_to_exponent(x.pool().number(0.5, x.dtype()), shifted);
  const Expr half = fma(power, expm1_kernel(r), power - 0.5);
  return select(abs(x) < format.tiny(), x, half + half);
}

}  // namespace bitale::program::math
