// gamma, gammaln, digamma, trigamma of positive arguments; poles and negative arguments are left to runtime/special.
//
// Large arguments: Stirling's series (Abramowitz & Stegun 6.1.41, 6.3.18), its tail a minimax polynomial in 1/x^2.
// Other arguments are shifted to the interval that contains the zeros by the recurrence (6.1.15, 6.3.5), whose few
// terms become one logarithm or one quotient; there (x - 1)(x - 2) and x - x0 are exact factors, so that the relative
// error stays small.

#include "core/limits.hpp"
#include "program/math/core.hpp"
#include "program/math/math.hpp"

namespace bitale::program::math {

namespace {

// Gamma(z), z = 1.625 + t, |t| <= 5/8, to 2^-55.2 (float64) and 2^-27.3 (float32).
Expr gamma_near_one(Expr t) {
  return Format(t.dtype()).is_double
             ? long_polynomial(
                   t, {0.89657428005659801,    0.13205753335841208,     0.3868170574998947,     -0.045081131862899811,
                       0.10771594492236959,    -0.043661747661862413,   0.034334980496029996,   -0.01966608362584428,
                       0.012593706486614243,   -0.0077054584532269743,  0.0047726277597372633,  -0.0029397366593629688,
                       0.0018114196958359753,  -0.0011152541404628848,  0.00068852378331837427, -0.00042475403972264965,
                       0.00025371402601202385, -0.00015348040234606115, 0.00011530362729536926, -7.5772946200573492e-5,
                       1.0957017974744115e-5,  -1.794819870564968e-6,   3.6145062414638759e-5,  -2.4453754850882895e-5})
             : long_polynomial(
                   t, {0.896574259, 0.132057577, 0.386817932, -0.0450839177, 0.107689492, -0.0436128229, 0.0346207656,
                       -0.0200352091, 0.0112292739, -0.00636645313, 0.0076291142, -0.00516626844});
}

// log Gamma(z) / ((z - 1)(z - 2)), z = 1.625 + t, |t| <= 5/8, to 2^-57.0 (float64) and 2^-25.7 (float32).
Expr gammaln_near_zeros(Expr t) {
  return Format(t.dtype()).is_double
             ? long_polynomial(t, {0.46580963736232692187,    -0.13157899128683404719,   0.052579426220434385532,
                                   -0.024194436430674163836,  0.011991915956937344363,   -6.2154504152710291096e-3,
                                   3.3172708623691872501e-3,  -1.807063972321240299e-3,  9.9927268628010837845e-4,
                                   -5.5895049720071254963e-4, 3.1549535844400535097e-4,  -1.793818290518109546e-4,
                                   1.0261771441957141532e-4,  -5.9074074990630547761e-5, 3.4136289818128313237e-5,
                                   -1.95092475452432126e-5,   1.1303516101256837928e-5,  -7.4089386978743460165e-6,
                                   4.4251417269252710578e-6,  -1.1359514089245333755e-6, 5.7088433947189315967e-7,
                                   -1.8308983558904156118e-6, 1.1256049390332528742e-6})
             : long_polynomial(
                   t, {0.465809645497, -0.131579017852, 0.0525784008335, -0.024193102889, 0.0120124550951,
                       -6.23406768823e-3, 3.17528428878e-3, -1.70252363322e-3, 1.38587442555e-3, -8.06124509125e-4});
}

// x (log Gamma(x) - (x - 1/2)(log x - 1) - (log 2 pi - 1) / 2) by y = 1/x^2, x >= 4.25, to 2^-52.9 (2^-28.4) of 1/12.
Expr gammaln_tail(Expr y) {
  return Format(y.dtype()).is_double
             ? long_polynomial(y, {0.083333333333333218161, -2.7777777775007924084e-3, 7.9365068425634024616e-4,
                                   -5.9522153340491147711e-4, 8.4050276063871187664e-4, -1.865057482517953641e-3,
                                   5.1162644492011502603e-3, -0.010407754854886013935})
             : polynomial(y, {0.083333330599, -2.77686744948e-3, 7.48340991693e-4});
}

// psi(z) / (z - x0), z = 1.625 + t, |t| <= 5/8, x0 the positive zero of psi, to 2^-58.1 (float64) and 2^-25.6
// (float32).
Expr digamma_near_zero(Expr t) {
  return Format(t.dtype()).is_double
             ? long_polynomial(t, {0.90159251582821575588,    -0.36977496445741078229,   0.19272012460146209618,
                                   -0.10919698588599195639,   0.06426251743363638872,    -0.03855782679361976778,
                                   0.023380439933510456675,   -0.014262521426617425486,  8.730867791298427169e-3,
                                   -5.3557290670513313492e-3, 3.2894287023754976765e-3,  -2.0218776324842564625e-3,
                                   1.2433280434304682189e-3,  -7.6458893415371190011e-4, 4.7035266040257390717e-4,
                                   -2.9046278975147500742e-4, 1.7886125751858438992e-4,  -1.0605522833424697387e-4,
                                   6.490379153790472781e-5,   -5.0011219581133902485e-5, 3.1384068494567365732e-5,
                                   -3.112776836843670704e-6,  1.3220945689932983631e-6,  -1.5889454615557924739e-5,
                                   1.0031355405407050247e-5})
             : long_polynomial(t, {0.901592513485, -0.369775276202, 0.19272061631, -0.109181269414, 0.0642467073434,
                                   -0.038777585695, 0.0235596435445, -0.0130306590358, 7.84436276226e-3,
                                   -8.24475474668e-3, 5.19818852601e-3});
}

// (log x - 1 / (2 x) - psi(x)) x^2 by y = 1/x^2, x >= 4, to 2^-51.5 (2^-25.2) of 1/12.
Expr digamma_tail(Expr y) {
  return Format(y.dtype()).is_double
             ? long_polynomial(y, {0.083333333333333020998, -8.3333333324854528259e-3, 3.9682535886669823277e-3,
                                   -4.1666007899580063725e-3, 7.5699528786951946104e-3, -0.020798297723838516036,
                                   0.074135147805957187553, -0.25871402074776388038, 0.54461938366972566013})
             : polynomial(y, {0.0833333073948, -8.32560732812e-3, 3.62291485333e-3});
}

// (trigamma(1 + x) - w) / w^2 by w = 1 / (x + 3/2), x >= 0, to 2^-56.2 (float64) and 2^-26.8 (float32) of
// trigamma(1 + x) / w.
Expr trigamma_series(Expr w) {
  return Format(w.dtype()).is_double
             ? long_polynomial(
                   w,
                   {0.99999999999999062011,  0.91666666666905260027,  0.74999999975931819897,  0.52916667951509073204,
                    0.31249958016930752461,  0.16444368144597569364,  0.10923393579110934724,  0.097166675655433065055,
                    0.021613247591288265333, 0.031767233324376351558, -0.42617695889661707222, 1.9110006706460353746,
                    -4.60601387149104203,    7.6238796510359737419,   -9.1707135195775344131,  8.1282871113560876045,
                    -5.2086113850032619207,  2.2957028016690576577,   -0.62453333119744905264, 0.079423493233452408209})
             : long_polynomial(w, {1.00000136421, 0.916597237396, 0.751354962282, 0.515895709087, 0.38614773741,
                                   -0.079880891573, 0.596093438372, -0.451800670796, 0.29719347481});
}

}  // namespace

Expr gamma(Expr x) {
  const bool is_double = Format(x.dtype()).is_double;
  const auto number = [&](double value) { return x.pool().number(value, x.dtype()); };
  const Expr one = number(1);
  // z - 1, for the z in [1, 2.25) that differs from x by a whole number; Gamma(x) is Gamma(z) times or over the steps.
  const Expr from_1 = x >= 1, from_2 = x >= 2.25, from_3 = x >= 3.25, large = x >= 4.25;
  const Expr d = x - select(from_3, number(3), select(from_2, number(2), select(from_1, one, 0.0)));
  const Expr near = gamma_near_one(d - 0.625);
  const Expr steps = (x - 2.0) * (x - 1.0), lost_step = residual(x - 2.0, x - 1.0, -steps);
  const Expr product = select(from_3, steps, select(from_2, x - 1.0, one));
  const Expr middle = fma(near, product, near * select(from_3, lost_step, 0.0));
  const Expr quotient = select(large, one, near) / x;
  // exp((x - 1/2) log x - x + ...), the exponent as a sum. At the bound it overflows already.
  const Expr bounded = min(number(is_double ? 175 : 37), x), factor = bounded - 0.5;
  const Sum log = log_in_two_pieces(bounded);
  const Expr high = factor * log.high, lost = fma(factor, log.low, residual(factor, log.high, -high));
  const Expr tail = fma(gammaln_tail(quotient * quotient), quotient, number(0.91893853320467274178));
  const Sum leading = sum_exactly(high, -bounded);
  const Expr far = exp_of_sum(sum_exactly(leading.high, leading.low + lost + tail));
  return rare_math_call("bt_gamma", x <= 0, select(large, far, select(from_1, middle, quotient)), {x});
}

Expr gammaln(Expr x) {
  const auto number = [&](double value) { return x.pool().number(value, x.dtype()); };
  const Expr one = number(1);
  // z - 1, for the z in [1, 2.25) that differs from x by a whole number.
  const Expr from_1 = x >= 1, from_2 = x >= 2.25, from_3 = x >= 3.25, large = x >= 4.25;
  const Expr d = x - select(from_3, number(3), select(from_2, number(2), select(from_1, one, 0.0)));
  const Expr near = d * (d - 1.0) * gammaln_near_zeros(d - 0.625);
  // log Gamma(x) = log Gamma(z) + sign log(product)
  const Expr product = select(from_3, (x - 2.0) * (x - 1.0), select(from_2, x - 1.0, select(from_1, one, x)));
  const Sum log = log_with_tail(select(large, x, product));
  const Expr inverse = 1.0 / x;
  const Expr tail = fma(gammaln_tail(inverse * inverse), inverse, number(0.41893853320467274178));
  // (x - 1/2)(log x - 1), or sign times log, with its rounding error.
  const Expr factor = select(large, x - 0.5, select(from_1, one, -1.0));
  const Expr high = select(large, log.high - 1.0, log.high);
  const Expr leading = factor * high, lost = residual(factor, high, -leading);
  const Expr value = leading + (fma(factor, log.low, lost) + select(large, tail, near));
  return rare_math_call("bt_lgamma", x <= 0, select(leading < inf, value, leading), {x});
}

Expr stirling_rest(Expr inverse) { return gammaln_tail(inverse * inverse) * inverse; }

Expr digamma(Expr x) {
  const bool is_double = Format(x.dtype()).is_double;
  const auto number = [&](double value) { return x.pool().number(value, x.dtype()); };
  const double zero_high = is_double ? 1.4616321449683622 : 1.4616321325302124;
  const double zero_low = is_double ? 9.549995429965697e-17 : 1.2438149938918909e-08;
  // The z in [1, 2.25) that differs from x by a whole number; psi(x) = psi(z) + numerator / denominator.
  const Expr from_1 = x >= 1, from_2 = x >= 2.25, from_3 = x >= 3.25, large = x >= 4.25;
  const Expr z = x - select(from_3, number(2), select(from_2, number(1), select(from_1, number(0), -1.0)));
  const Expr numerator =
      select(from_3, fma(x, number(2), number(-3)), select(from_2, number(1), select(from_1, number(0), -1.0)));
  const Expr a = select(from_2, x - 1.0, x), b = select(from_3, x - 2.0, 1.0), denominator = a * b;
  const Expr divisor = select(large, x, denominator), inverse = 1.0 / divisor;
  // The rounding error of the quotient, which counts because the sum may cancel.
  const Expr quotient = numerator * inverse, lost_below = residual(a, b, -denominator);
  const Expr lost = fma(-quotient, lost_below, residual(-quotient, denominator, numerator)) * inverse;
  const Expr factor = z - zero_high, r = digamma_near_zero(z - 1.625);
  const Expr near = quotient + fma(factor, r, lost - r * zero_low);
  const Expr y = inverse * inverse;
  const Expr far = log_of_normal(x) - fma(y, digamma_tail(y), inverse * 0.5);
  // -1 / x where that overflows, without inf - inf.
  const Expr small = select(x < 0x1p-60, -inverse, near);
  return rare_math_call("bt_digamma", x <= 0, select(large, select(x < inf, far, x), small), {x});
}

Expr trigamma(Expr x) {
  // trigamma(x) = 1/x^2 + trigamma(1 + x): both are positive.
  const Expr sum = x + 1.5, back = sum - 1.5, lost = (1.5 - (sum - back)) + (x - back);
  const Expr rough = 1.0 / sum, inverse = 1.0 / x;
  // The errors of the sum and of the division: 1 / (x + 3/2) is `rough` plus this. Where x is infinite, so is `lost`.
  const Expr error = residual(-rough, sum, x.pool().number(1, x.dtype())) - rough * lost;
  const Expr rest = rough * select(x < 0x1p60, error, 0.0), w = rough + rest;
  const Expr after_one = rough + fma(w * w, trigamma_series(w), rest);
  return rare_math_call("bt_trigamma", x <= 0, fma(inverse, inverse, after_one), {x});
}

}  // namespace bitale::program::math
