// asin, acos, atan, atan2: a polynomial about zero. Every argument is reduced to it by the formulas of half an angle
// and of the difference of two angles (as in FreeBSD's msun: e_asin.c, s_atan.c).
#include <limits>

#include "program/math/core.hpp"
#include "program/math/math.hpp"

namespace bitale::program::math {

namespace {

// pi in two pieces: its rounding to the dtype, and the rest.
struct Pi {
  double high, low;
};
Pi pi_of(const Format& format) {
  if (format.is_double) return {3.141592653589793116, 1.2246467991473531772e-16};
  return {3.1415927410125732422, -8.7422776573475857731e-8};
}

// (asin(s) - s) / s for z = s^2 <= 1/4; asin to 2^-56 (float64) and 2^-27.6 (float32).
Expr arcsine_part(Expr z) {
  return Format(z.dtype()).is_double
             ? polynomial(z, {0, 0.16666666666665408, 0.075000000003369899, 0.044642856828349751, 0.030381959136067116,
                              0.022371758072157747, 0.017359704435832263, 0.013885238682771927, 0.012169190755094652,
                              0.0065280639881287019, 0.01952802840588367, -0.01622389260997005, 0.031912031710216109})
             : polynomial(z, {0, 0.166667521, 0.0749530941, 0.0454691537, 0.0241847336, 0.0421584323});
}

// (atan(t) - t) / t for |t| <= 1/2; atan to 2^-57.7 (float64) and 2^-27.5 (float32).
Expr arctangent_part(Expr t) {
  return Format(t.dtype()).is_double
             ? polynomial(t * t,
                          {0, -0.33333333333332982, 0.1999999999990317, -0.14285714276390718, 0.11111110659822933,
                           -0.09090896248907436, 0.076920739713261313, -0.066638111617208812, 0.058583022879993119,
                           -0.05122019601411297, 0.041865402526213076, -0.027435487840919742, 0.010117200948168256})
             : polynomial(t * t, {0, -0.33333233, 0.19994168, -0.141742125, 0.101557985, -0.0512500294});
}

// base + atan(t), base = `eighths` pi / 8 in two pieces.
Expr add_arctangent(Expr t, Expr eighths) {
  const Pi pi = pi_of(Format(t.dtype()));
  const Expr small = t + fma(t, arctangent_part(t), eighths * (pi.low / 8));
  return fma(eighths, t.pool().number(pi.high / 8, t.dtype()), small);
}

Expr is_negative(Expr x) {
  const bool is_double = Format(x.dtype()).is_double;
  return bitcast(x, is_double ? DType::Int64 : DType::Int32) < 0;
}

// s and z = s^2 with asin(|x|) = asin(s) up to 1/2, and pi/2 - 2 asin(s) beyond; `part` = asin(s) - s.
struct HalfAngle {
  Expr is_small, s, part;
};
HalfAngle half_angle(Expr x) {
  const Expr a = abs(x), is_small = a <= 0.5;
  const Expr z = select(is_small, x * x, (1.0 - a) * 0.5), s = select(is_small, a, sqrt(z));
  return {is_small, s, s * arcsine_part(z)};
}

}  // namespace

Expr asin(Expr x) {
  const Pi pi = pi_of(Format(x.dtype()));
  const auto [is_small, s, part] = half_angle(x);
  const Expr angle = s + part;
  return copysign(select(is_small, angle, pi.high / 2 - ((angle + angle) - pi.low / 2)), x);
}

Expr acos(Expr x) {
  const Pi pi = pi_of(Format(x.dtype()));
  const auto [is_small, s, part] = half_angle(x);
  const Expr angle = s + part, twice = angle + angle;
  const Expr near_zero = pi.high / 2 - (x - (pi.low / 2 - copysign(part, x)));
  return select(is_small, near_zero, select(x < 0, pi.high - (twice - pi.low), twice));
}

Expr atan(Expr x) {
  ExprPool& pool = x.pool();
  auto number = [&](double value) { return pool.number(value, x.dtype()); };
  // atan(a) = pi/4 + atan((a - 1) / (a + 1)) = pi/2 + atan(-1 / a).
  const Expr a = abs(x), is_large = a > 2.0, is_middle = a > 0.5;
  const Expr above = select(is_large, number(-1), select(is_middle, a - 1.0, a));
  const Expr below = select(is_large, a, select(is_middle, a + 1.0, number(1)));
  const Expr eighths = select(is_large, number(4), select(is_middle, number(2), number(0)));
  return copysign(add_arctangent(above / below, eighths), x);
}

Expr atan2(Expr y, Expr x) {
  ExprPool& pool = x.pool();
  auto number = [&](double value) { return pool.number(value, x.dtype()); };
  const Expr b = abs(y), a = abs(x), sum = a + b;
  const Expr is_large = b > a + a, is_middle = b + b > a;
  const Expr above = select(is_large, -a, select(is_middle, b - a, b));
  const Expr below = select(is_large, b, select(is_middle, sum, select(equal(sum, 0), number(1), a)));
  const Expr eighths = select(is_large, number(4), select(is_middle, number(2), number(0)));
  // Left of the ordinate: pi minus the angle.
  const Expr t = above / below, is_left = is_negative(x);
  const Expr angle = add_arctangent(select(is_left, -t, t), select(is_left, 8.0 - eighths, eighths));
  const Expr is_finite = sum < std::numeric_limits<double>::infinity();
  return rare_math_call("atan2", ~is_finite, copysign(angle, y), {y, x});
}

}  // namespace bitale::program::math
