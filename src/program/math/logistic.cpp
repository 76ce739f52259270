// sigmoid, softplus and log1mexp: through exp of what is not positive, which never overflows.
#include <cmath>
#include <limits>

#include "program/math/core.hpp"
#include "program/math/math.hpp"

namespace bitale::program::math {

namespace {

// log(1 + u), 0 <= u <= 1: u + u^2 P(u), to 2^-56.5 (float64) and 2^-27.5 (float32). No division, no decomposition.
Expr log1p_of_unit(Expr u) {
  const Expr p =
      Format(u.dtype()).is_double
          ? long_polynomial(u, {-0.49999999999999459591,   0.33333333333235040604,   -0.2499999999367675132,
                                0.19999999791332636869,    -0.16666662498696741251,  0.14285658899352023998,
                                -0.12499479627597035299,   0.11107506065456776041,   -0.099810151474818926293,
                                0.090131541589886147947,   -0.080812122858231718727, 0.070355429204023626388,
                                -0.057502016787375500769,  0.042300099630094250793,  -0.026743923618630071081,
                                0.013838540135969885115,   -5.543071461796265e-3,    1.5957236785519085703e-3,
                                -2.9175655904698362975e-4, 2.5329387254062128388e-5})
          : long_polynomial(u, {-0.499999327651, 0.333305112815, -0.249585866649, 0.196953955937, -0.153553801051,
                                0.106805259073, -0.0576641373463, 0.0202044160968, -3.31843421568e-3});
  return fma(u * u, p, u);
}

}  // namespace

Expr sigmoid(Expr x) {
  const Expr small = exp(-abs(x));
  return select(x >= 0, 1.0, small) / (small + 1.0);
}

Expr softplus(Expr x) {
  // max passes a nan in its second argument.
  return log1p_of_unit(exp(-abs(x))) + max(x.pool().number(0, x.dtype()), x);
}

Expr log1mexp(Expr x) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  ExprPool& pool = x.pool();
  const Format format(x.dtype());
  const auto [shifted, r] = reduce_by_log_2(max(pool.number(format.is_double ? -746 : -106, x.dtype()), x));
  const Expr e = expm1_kernel(r), power = scale(e + 1.0, shifted), n = shifted - format.shifter();
  // The logarithm of w = -expm1(x). Near 1, w - 1 = -exp(x) is known to more digits than w; elsewhere what the rounding
  // of w lost is added to its fraction, if it is not too small to matter.
  const auto two_to = [&](Expr whole) { return add_to_exponent(pool.number(1, x.dtype()), whole + format.shifter()); };
  const Expr two_n = two_to(max(pool.number(-64, x.dtype()), n)), rest = 1.0 - two_n, w = fma(-two_n, e, rest);
  const auto [m, k] = decompose_any(w);
  const Expr lost = fma(-two_n, e, rest - w) * two_to(-max(pool.number(-60, x.dtype()), k));
  const Expr value = log_of_scaled(k, select(w > 0.75, -power, (m - 1.0) + lost));
  const Expr at_zero_or_above = select(equal(x, 0), -inf, pool.number(std::nan(""), x.dtype()));
  return select(x < 0, -abs(value), at_zero_or_above);
}

}  // namespace bitale::program::math
