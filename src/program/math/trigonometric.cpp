// sin, cos, tan: x = n pi + r (or n pi/2 + r), pi in three pieces; then a polynomial in r. Fused multiply-adds keep r
// right to its last bit while |x| is below a bound that is far beyond usual angles; a rare call handles the rest
// (runtime/angles.hpp). The first step is exact: x - n pi_1 is a multiple of the last bit of pi_1, and less than 2.
#include "program/math/core.hpp"
#include "program/math/math.hpp"

namespace bitale::program::math {

namespace {

// With n < 2^41 (2^16) the pieces leave out less than 2^-116 (2^-55), and no float below the bound lies nearer to a
// multiple of pi/2 than 2^-62 (2^-30).
double bound(const Format& format) { return format.is_double ? 0x1p42 : 0x1p17; }

// pi in three pieces, each rounded towards zero: positive pieces keep the sign of a zero x.
struct Pieces {
  double high, middle, low;
};
Pieces pi_pieces(const Format& format) {
  if (format.is_double) return {0x1.921fb54442d18p+1, 0x1.1a62633145c06p-53, 0x1.c1cd129024e08p-106};
  return {0x1.921fb4p+1, 0x1.4442dp-23, 0x1.846988p-47};
}

// x - n pi
Expr subtract_multiple_of_pi(Expr x, Expr n) {
  const Pieces pi = pi_pieces(Format(x.dtype()));
  for (double piece : {pi.high, pi.middle}) x = residual(n, x.pool().number(-piece, x.dtype()), x);
  return fma(n, x.pool().number(-pi.low, x.dtype()), x);
}

// `value` with its sign flipped where the whole number in the low bits of `shifted` is odd.
Expr flip_if_odd(Expr value, Expr shifted) {
  const Format format(value.dtype());
  const Expr sign = bitcast(shifted, format.bits()) << (format.is_double ? 63 : 31);
  return bitcast(bitcast(value, format.bits()) ^ sign, format.dtype());
}

// sin(r) for |r| <= pi/2, to 2^-61 (float64) and 2^-27.3 (float32).
Expr sin_kernel(Expr r) {
  // The term -z/8 is exact, and with it the rounding errors of the others are small. The constant term makes a zero
  // positive, so that the last fma keeps the sign of r.
  const Expr z = r * r;
  const Expr rest = Format(r.dtype()).is_double
                        ? polynomial(z, {0, -0.04166666666666666, 0.0083333333333332066, -0.00019841269841212476,
                                         2.7557319211568385e-6, -2.5052106904258876e-8, 1.6058940990637824e-10,
                                         -7.6430189724798481e-13, 2.7214142980400441e-15})
                        : polynomial(z, {0, -0.0416665971, 0.00833306927, -0.000198097769, 2.60609568e-6});
  return fma(r, fma(z, r.pool().number(-0.125, r.dtype()), rest), r);
}

}  // namespace

Expr sin(Expr x) {
  const Format format(x.dtype());
  ExprPool& pool = x.pool();
  const Expr shifted = fma(x, pool.number(0.31830988618379067154, x.dtype()), pool.number(format.shifter(), x.dtype()));
  const Expr r = subtract_multiple_of_pi(x, shifted - format.shifter());
  return rare_math_call("bt_sin_huge", abs(x) > bound(format), sin_kernel(flip_if_odd(r, shifted)), {x});
}

Expr cos(Expr x) {
  const Format format(x.dtype());
  ExprPool& pool = x.pool();
  // cos(x) = sin(x + pi/2), x = (n - 1/2) pi + r.
  const Expr shifted =
      fma(x, pool.number(0.31830988618379067154, x.dtype()), pool.number(0.5, x.dtype())) + format.shifter();
  const Expr r = subtract_multiple_of_pi(x, (shifted - format.shifter()) - 0.5);
  return rare_math_call("bt_cos_huge", abs(x) > bound(format), sin_kernel(flip_if_odd(r, shifted)), {x});
}

Expr tan(Expr x) {
  const Format format(x.dtype());
  ExprPool& pool = x.pool();
  auto number = [&](double value) { return pool.number(value, x.dtype()); };
  const Expr shifted = fma(x, number(0.63661977236758134308), number(format.shifter())), n = shifted - format.shifter();
  // x = n pi/2 + r - excess: the rounding error of r would count twice, in the sine and in the cosine.
  const Pieces pi = pi_pieces(format);
  const Expr first = residual(n, number(-pi.high / 2), x), product = n * (pi.middle / 2), r = first - product;
  const Expr lost = (first - r) - product, product_low = residual(n, number(pi.middle / 2), -product);
  const Expr excess = fma(n, number(pi.low / 2), product_low - lost);
  // sin and cos of |r| <= pi/4, to 2^-58 (float64) and 2^-28 (float32).
  const Expr z = r * r;
  const Expr sine_bend = format.is_double
                             ? polynomial(z, {0, 0.1666666666666663, -0.0083333333333218407, 0.00019841269829358368,
                                              -2.7557313538423788e-6, 2.5050734375475172e-8, -1.5895432865655289e-10})
                             : polynomial(z, {0, 0.166666552, -0.00833218917, 0.000195182904});
  const Expr cosine_part =
      format.is_double ? polynomial(z, {-0.5, 0.041666666666666595, -0.0013888888888873342, 2.4801587289002059e-5,
                                        -2.755731421703605e-7, 2.0875705396794352e-9, -1.135874982140009e-11})
                       : polynomial(z, {-0.5, 0.0416666456, -0.00138873095, 2.44323273e-5});
  const Expr from_r = fma(r, sine_bend, excess), from_1 = fma(z, cosine_part, r * excess);
  const Expr one = pool.integer(1, format.bits());
  const Expr is_odd = equal(bitcast(shifted, format.bits()) & one, one);
  // sin(r) / cos(r) or, as tan(r + pi/2) = -cos(r) / sin(r), the latter: each is a large part and a small one, so that
  // the rounding errors of their sums are known.
  const Expr large = select(is_odd, number(-1), r), small = select(is_odd, -from_1, -from_r);
  const Expr other_large = select(is_odd, r, number(1)), other_small = select(is_odd, -from_r, from_1);
  const Expr above = large + small, below = other_large + other_small, inverse = 1.0 / below;
  const Expr quotient = above * inverse, negative = -quotient;
  const Expr left_out = fma(negative, (other_large - below) + other_small, (large - above) + small);
  const Expr value = copysign(fma(residual(negative, below, above) + left_out, inverse, quotient), quotient);
  return rare_math_call("bt_tan_huge", abs(x) > bound(format), value, {x});
}

}  // namespace bitale::program::math
