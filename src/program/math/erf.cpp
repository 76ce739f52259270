// erf, erfc, erfcx, and the normal distribution function.
//
// erf is one of sixteen polynomials, whose coefficients are looked up.
// (1 + 2 a) erfcx(a) hardly varies for positive a: one polynomial in (a - K) / (a + K) covers them all (Shepherd &
// Laframboise, Math. Comp. 36, 1981). erfc is erfcx times exp(-x^2), and erfcx(-x) is 2 exp(x^2) minus erfcx(x). The
// leading term of the polynomial is carried in two pieces, because each factor would add its rounding.
#include <limits>

#include "program/math/core.hpp"
#include "program/math/erf_table.hpp"
#include "program/math/math.hpp"

namespace bitale::program::math {

namespace {

// A polynomial's constant, more precise than the format, and its other terms divided by x.
struct ErfcxSeries {
  double high, low;
  Expr rest;
};

// (1 + 2 a) erfcx(a), a >= 0, by q = (a - K) / (a + K): to 2^-57.0 (float64, K = 4) and 2^-27.7 (float32, K = 2.5).
ErfcxSeries scaled_erfcx(Expr q) {
  if (Format(q.dtype()).is_double)
    return {1.2329951186255526, -4.4158195752685424e-17,
            long_polynomial(q, {-0.13962111684056229189,   0.015379652102619364758,   0.068097054254669067414,
                                -0.10103906603628854096,   0.093732834999095980616,   -0.066330365812422061161,
                                0.037167515526525847968,   -0.016197734057437826397,  5.0319700679205681526e-3,
                                -7.5777327529277459163e-4, -1.9925714791375638683e-4, 1.5062154179377968373e-4,
                                -2.4397742476873237432e-5, -1.1221413343695410232e-5, 5.7065968258784329349e-6,
                                2.9217830367844764735e-7,  -8.2108459269065716127e-7, 7.7250854722829705157e-8,
                                1.0633149514585345709e-7,  -2.0412489894305203602e-8, -1.234385019067013218e-8,
                                3.1121360477579320271e-9,  9.3061960889803542549e-10, -2.562290243574146049e-10})};
  return {1.2648382186889648, -3.759896484375e-08,
          long_polynomial(
              q, {-0.122356822796, -0.0990242847875, 0.157631445997, -0.102970192224, 0.0327494805024, 9.45788901187e-4,
                  -4.34454067178e-3, 4.64447969507e-4, 5.69727089178e-4, -6.43623111088e-5, -5.97068688233e-5})};
}

// For positive a with a^2 far from overflow.
Sum erfcx_of_positive(Expr a) {
  const auto number = [&](double value) { return a.pool().number(value, a.dtype()); };
  const double centre = Format(a.dtype()).is_double ? 4 : 2.5;
  // One division for both: by (a + K) (1 + 2 a).
  const Expr sum = a + centre, twice = fma(a, number(2), number(1)), inverse = 1.0 / (sum * twice);
  const Expr s = inverse * twice, scale = inverse * sum, rough = (a - centre) * s;
  // The errors of the quotients, by their remainders (a - K) - rough (a + K) and 1 - scale (1 + 2 a).
  const Expr left = residual(-rough, a, fma(rough + 1.0, number(-centre), a)), q = fma(left, s, rough);
  // The rounding error of q is multiplied by the slope there: 1.74 at -1, from where it falls like q^5, and small
  // beyond 0.
  const Expr lost_of_q = fma(left, s, rough - q), square = q * q;
  const Expr slope = (square * square) * (min(q, number(0)) * -1.74);
  const Expr lost_of_twice = fma(a, number(2), 1.0 - twice);
  const Expr remainder = fma(-scale, lost_of_twice, residual(-scale, twice, number(1)));
  const ErfcxSeries series = scaled_erfcx(q);
  const Sum value = sum_exactly(number(series.high), q * series.rest);
  const Expr rest = fma(lost_of_q, slope, value.low + series.low);
  const Expr high = value.high * scale, lost = residual(value.high, scale, -high);
  return {high, lost + scale * fma(value.high, remainder, rest)};
}

// exp(factor a^2) = 2^n (1 + e) (1 + rest), for a power of two; `shifted` is n + shifter.
struct Power {
  Expr shifted, n, e, rest;
};
Power exp_of_square(Expr a, double factor) {
  const Expr square = a * a, lost = residual(a, a, -square);
  const auto [shifted, n, r] = reduce_by_log_2(Sum{square * factor, lost * factor});
  return {shifted, n, expm1_kernel(r.high), r.low};
}

// erfcx(a / sqrt 2): the rounding error of the argument is corrected by the derivative, 2 b erfcx(b) - 2 / sqrt pi.
Sum erfcx_of_scaled(Expr a) {
  const auto number = [&](double value) { return a.pool().number(value, a.dtype()); };
  const bool is_double = Format(a.dtype()).is_double;
  const double high = is_double ? 0.70710678118654757 : 0.70710676908493042;
  const double low = is_double ? -4.8336466567264567e-17 : 1.2101617485882342e-08;
  const Expr b = a * high, lost = fma(a, number(low), residual(a, number(high), -b));
  const Sum value = erfcx_of_positive(b);
  return {value.high, fma(lost, fma(b + b, value.high, number(-1.1283791670955126)), value.low)};
}

// high + low, times (1 + e) (1 + rest). `low` may be four units in the last place of `high`, so its product with e is
// included.
Sum times(Sum value, const Power& power) {
  const Expr low = fma(value.high, power.rest, value.low);
  return sum_exactly(value.high, fma(value.high, power.e, fma(low, power.e, low)));
}

// The normal distribution function of -a, 0 <= a <= normal_bound, beyond which it is 0; and, for any a whose square
// doesn't overflow, its factor erfcx(a / sqrt 2).
constexpr double normal_bound = 38.6;
struct NormalTail {
  Expr value, lost;  // the rounding error of the value, where that is not tiny
  Sum scaled;
};
NormalTail normal_tail(Expr a) {
  const Power power = exp_of_square(a, -0.5);
  const Sum scaled = erfcx_of_scaled(a), total = times(scaled, power);
  const Expr half_power = add_to_exponent(a.pool().number(1, a.dtype()), power.shifted - 1.0);
  return {scale(total.high, power.n - 1.0), select(a < 12.0, total.low * half_power, 0.0), scaled};
}

// float32 is computed in float64: the rounding of its argument, in a / sqrt 2, costs more than the format has.
Expr by_double(Expr (*function)(Expr), Expr x) { return cast(function(cast(x, DType::Float64)), x.dtype()); }

}  // namespace

Expr erf(Expr x) {
  return Format(x.dtype()).is_double ? odd_by_steps(x, {erf_step, erf_bound, erf_table})
                                     : odd_by_steps(x, {erf_step_of_float, erf_bound_of_float, erf_table_of_float});
}

Expr erfc(Expr x) {
  // Beyond the bound the result is 0.
  const Expr a = min(x.pool().number(Format(x.dtype()).is_double ? 27.3 : 10.1, x.dtype()), abs(x));
  const Power power = exp_of_square(a, -1);
  const Expr positive = scale(times(erfcx_of_positive(a), power).high, power.n);
  return select(x < 0, 2.0 - positive, select(x >= 0, positive, x));
}

Expr erfcx(Expr x) {
  const bool is_double = Format(x.dtype()).is_double;
  const Expr a = abs(x);
  const auto [high, low] = erfcx_of_positive(a);
  // Half of 2 exp(a^2) - erfcx(a), because 2^(n + 1) may be too large. At the bound it doubles to infinity.
  const auto [shifted, n, e, rest] = exp_of_square(min(x.pool().number(is_double ? 26.63 : 9.385, x.dtype()), a), 1);
  const Expr power = add_to_exponent(x.pool().number(1, x.dtype()), shifted);
  const Expr half = fma(power, e, (power - high * 0.5) + fma(power, rest, low * -0.5));
  const Expr value = select(x < 0, half + half, high + low);
  return rare_math_call("bt_erfcx", a > (is_double ? 1e100 : 1e15), value, {x});
}

Expr ndtr(Expr x) {
  if (!Format(x.dtype()).is_double) return by_double(ndtr, x);
  const Expr bound = x.pool().number(normal_bound, x.dtype());
  const Expr tail = normal_tail(min(bound, abs(x))).value;
  return select(x < 0, tail, select(x >= 0, 1.0 - tail, x));
}

Expr log_ndtr(Expr x) {
  if (!Format(x.dtype()).is_double) return by_double(log_ndtr, x);
  const auto number = [&](double value) { return x.pool().number(value, x.dtype()); };
  const Format format(x.dtype());
  // Below 0, log(erfcx(a / sqrt 2) / 2) - a^2 / 2, where beyond the bound only the square matters. Otherwise log(w), w
  // = 1 - tail; near 1 the tail is known to more digits than w.
  const Expr is_below = x < 0;
  const Expr bound = select(is_below, number(1e12), normal_bound);
  const auto [tail, tail_lost, scaled] = normal_tail(min(bound, abs(x)));
  const Expr w = select(is_below, scaled.high * 0.5, 1.0 - tail);
  const Expr lost = select(is_below, scaled.low * 0.5, ((1.0 - w) - tail) - tail_lost);
  const auto [m, k] = decompose(w);
  const Expr inverse_power = add_to_exponent(number(1), format.shifter() - k);
  const Expr is_near_1 = w > 0.75, f = select(is_near_1, -tail, fma(lost, inverse_power, m - 1.0));
  const Expr negative = select(is_below, x, 0.0),
             value = fma(negative * -0.5, negative, log_of_scaled(k, f, select(is_near_1, tail_lost, 0.0)));
  return select(x <= std::numeric_limits<double>::infinity(), -abs(value), x);
}

}  // namespace bitale::program::math
