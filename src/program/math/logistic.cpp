// sigmoid, softplus and log1mexp: through exp of arguments that are not positive, which never overflows.
#include <cmath>

#include "core/limits.hpp"
#include "program/math/core.hpp"
#include "program/math/math.hpp"

namespace bitale::program::math {

namespace {

// log(1 + u), 0 <= u <= 1: u + u^2 P(u - 1/2), to 2^-56.5 (float64) and 2^-27.5 (float32). No division, no
// decomposition; by powers of u the terms of P would cancel near 1.
Expr log1p_of_unit(Expr u) {
  const Expr t = u - 0.5;
  const Expr p =
      Format(u.dtype()).is_double
          ? long_polynomial(t, {-0.37813956756734246943,   0.17922493693603718351,    -0.093230366363669045247,
                                0.051083446105399995142,   -0.02894318316441612301,   0.016788742491292091565,
                                -9.9099007670112966352e-3, 5.9290115605400928221e-3,  -3.5856647729193415853e-3,
                                2.187647582559077892e-3,   -1.3445311849032938363e-3, 8.3134298152386526535e-4,
                                -5.1653902899339017104e-4, 3.2346615194018399383e-4,  -2.0487960012244753843e-4,
                                1.2544855186887687019e-4,  -7.1086546503890689884e-5, 5.2745952240211891071e-5,
                                -5.1127380133393410068e-5, 2.5329387254062128388e-5})
          : long_polynomial(t, {-0.378139559412, 0.179224886174, -0.0932318561463, 0.0510890584864, -0.0289049976869,
                                0.0166569920326, -0.0101777205174, 6.93067923406e-3, -3.31843421568e-3});
  return fma(u * u, p, u);
}

}  // namespace

Expr sigmoid(Expr x) {
  const Expr small = exp_of_negative(-abs(x));
  return select(x >= 0, 1.0, small) / (small + 1.0);
}

Expr softplus(Expr x) {
  // max returns a nan that is its second argument.
  return log1p_of_unit(exp_of_negative(-abs(x))) + max(x.pool().number(0, x.dtype()), x);
}

Expr log1mexp(Expr x) {
  ExprPool& pool = x.pool();
  const Format format(x.dtype());
  const auto [shifted, n, r] = reduce_by_log_2(max(pool.number(format.is_double ? -746 : -106, x.dtype()), x));
  const Expr e = expm1_kernel(r), power = scale(e + 1.0, n);
  // The logarithm of w = -expm1(x). Near 1, w - 1 = -exp(x) is known to more digits than w; elsewhere the rounding
  // error of w is added to its fraction, if it is not too small to matter.
  const auto two_to = [&](Expr whole) { return add_to_exponent(pool.number(1, x.dtype()), whole + format.shifter()); };
  const Expr two_n = two_to(max(pool.number(-64, x.dtype()), n)), rest = 1.0 - two_n, w = fma(-two_n, e, rest);
  const auto [m, k] = decompose_any(w);
  const Expr lost = fma(-two_n, e, rest - w) * two_to(-max(pool.number(-60, x.dtype()), k));
  const Expr value = log_of_scaled(k, select(w > 0.75, -power, (m - 1.0) + lost));
  const Expr at_zero_or_above = select(equal(x, 0), -inf, pool.number(std::nan(""), x.dtype()));
  return select(x < 0, -abs(value), at_zero_or_above);
}

}  // namespace bitale::program::math
