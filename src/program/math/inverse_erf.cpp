// erfinv, erfcinv: functions of w = -log(1 - x^2), which removes the steepness at the ends (Giles, "Approximating the
// erfinv function", GPU Computing Gems 2, 2011). erfinv(x) / x is sqrt(pi) / 2 and a little more for w up to 8, and not
// far from sqrt(w) beyond, where 1 - |x| < 2^-12.5; erfcinv goes on to the least positive number.

#include "core/limits.hpp"
#include "program/math/core.hpp"
#include "program/math/math.hpp"

namespace bitale::program::math {

namespace {

constexpr double max_central = 8;

// erfinv(x) / x = sqrt(pi) / 2 + w P(w), w <= 8, to 2^-55.4 (float64) and 2^-26.9 (float32).
Expr central(Expr w) {
  const Expr t = w - 4.0;
  const Expr p =
      Format(t.dtype()).is_double
          ? long_polynomial(
                t, {0.24313804674355385,     -0.0036958403514659155,  -0.00088130490009277176, 0.00016933322064758237,
                    -1.2613857880704313e-5,  -7.253208250519424e-7,   3.0296581784767308e-7,   -3.143052296504638e-8,
                    -5.0148488475028767e-10, 5.8788401660165476e-10,  -7.4221846738549227e-11, 6.1464040222279983e-13,
                    1.1566649879065507e-12,  -1.7269692079220311e-13, 4.7489076308286303e-15,  2.2593799572634392e-15,
                    -4.0192913439747358e-16, 1.8186555204792726e-17,  4.595703971437924e-18,   -9.7389025963419686e-19,
                    4.1200758658707593e-20,  1.1969941567800075e-20,  -1.7205868951603999e-21, -1.0683499420115011e-23,
                    1.5646754454089369e-23,  -7.9847707026144797e-25})
          : long_polynomial(
                t, {0.243138045, -0.00369584747, -0.000881288433, 0.000169343853, -1.26284922e-5, -7.29349665e-7,
                    3.07685411e-7, -3.09176116e-8, -1.18730981e-9, 5.81088289e-10, -2.81807806e-11, -2.27186932e-12});
  return fma(w, p, w.pool().number(0.88622692545275801365, w.dtype()));
}

// The same as s + P(s), s = sqrt(w), 2.828 <= s <= 6.09 (4.06), to 2^-57.3 (2^-28.2).
Expr tail(Expr s) {
  return s +
         (Format(s.dtype()).is_double
              ? long_polynomial(
                    s - 4.4625,
                    {-0.15562943391056083,    0.01020638378015367,     0.00037711509358342608,  -0.00045302361437523785,
                     0.00015587322954138574,  -4.3627436885110372e-5,  1.2108804237220091e-5,   -4.1418350223957813e-6,
                     1.9798961553155393e-6,   -1.1105757777265581e-6,  5.8777974888179309e-7,   -2.6080366106506992e-7,
                     8.7578603770798416e-8,   -1.6479709000630165e-8,  -3.0934927806207492e-9,  4.2510484666817738e-9,
                     -1.9623161232693681e-9,  4.8409188990312565e-10,  -7.5925595420990057e-12, -4.6123556965741e-11,
                     2.2598181800502353e-11,  -6.8496037703548105e-12, 3.926953888753519e-13,   7.804849007787008e-13,
                     -2.4096359390551417e-13, -1.4698194726777252e-14, 1.0434796497852243e-14})
              : long_polynomial(s - 3.4375, {-0.164961517, 0.00693390425, 0.00369199039, -0.00236515794, 0.00132129749,
                                             -0.000863224792, 0.000589932955, -0.000256242376}));
}

// erfinv(x) = s + P(t), t = 1 / (1 + s), s up to 27.4 (10.4), to 2^-57.1 (2^-28.0).
Expr long_tail(Expr s) {
  const Expr t = 1.0 / (s + 1.0);
  return s +
         (Format(s.dtype()).is_double
              ? long_polynomial(
                    t - 0.1482,
                    {-0.14254015102664136,    -0.44775138796877151,   2.1274460230426007,     -1.858018860146057,
                     11.452242898648688,      -50.156349329065485,    215.06533772867192,     -1065.1268510583113,
                     5442.7496366056366,      -28855.40475933762,     151174.56984101946,     -975965.49609197117,
                     2652867.2252981868,      -57516546.898149975,    -36439229.134325929,    405751368.46640408,
                     60428716255.955956,      553738929492.46021,     -2740800532321.8979,    -135793891384540.69,
                     -405371919533802.25,     17771131113685474.0,    1.0853975389602141e+17, -1.7937595489258662e+18,
                     -1.3081355742125476e+19, 1.4453651714491828e+20, 1.0480068568774182e+21, -9.2609236497064096e+21,
                     -5.8148604333005308e+22, 4.5079021495933413e+23, 2.1763650431570048e+24, -1.5593647816252867e+25,
                     -4.9708345161936699e+25, 3.3963822367556594e+26, 5.3185758202866615e+26, -3.5307800081395025e+27})
              : long_polynomial(t - 0.17431640625, {-0.152811065, -0.339715987, 2.02107215, -0.944999278, 6.59025335,
                                                    -25.7667961, 85.5611954, -846.305359, 602.886536}));
}

}  // namespace

Expr erfinv(Expr x) {
  const Expr a = abs(x), w = -log_of_normal(residual(-x, x, x.pool().number(1, x.dtype())));
  const Expr value = x * select(w <= max_central, central(w), tail(sqrt(w)));
  return select(a < 1, value, select(equal(a, 1), copysign(x.pool().number(inf, x.dtype()), x), nan));
}

Expr erfinv_inside(Expr x) {
  const Expr w = -log_of_normal(residual(-x, x, x.pool().number(1, x.dtype())));
  return rare_math_call("bt_erfinv", (w > max_central) | ~(abs(x) < 1), x * central(w), {x});
}

Expr erfcinv(Expr x) {
  const Expr d = 1.0 - x, lost = (1.0 - d) - x, rest = x * (2.0 - x);  // 1 - d^2
  const Expr w = -log_of_positive(rest), factor = central(w);
  const Expr value = select(w <= max_central, fma(d, factor, lost * factor), copysign(long_tail(sqrt(w)), d));
  const Expr at_ends = select(equal(x, 0), inf, select(equal(x, 2), x.pool().number(-inf, x.dtype()), nan));
  return select(rest > 0, value, at_ends);
}

}  // namespace bitale::program::math
