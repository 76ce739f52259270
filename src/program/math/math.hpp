// Elementary functions as short branch-free expressions: the same few dozen operations at every vector width and on
// every target, so that a fused loop never leaves registers to call a library. float32 and float64. Each is right at
// +-0, infinities, nan and subnormals, and within a few units in the last place elsewhere (each file describes its
// method).
#pragma once

#include "bitale/program/expr.hpp"

namespace bitale::program::math {

Expr exp(Expr x);
Expr exp2(Expr x);
Expr expm1(Expr x);
Expr log(Expr x);
Expr log2(Expr x);
Expr log10(Expr x);
Expr log1p(Expr x);
Expr pow(Expr x, Expr y);
Expr cbrt(Expr x);
Expr logit(Expr x);     // log(x / (1 - x))
Expr sigmoid(Expr x);   // 1 / (1 + exp(-x))
Expr softplus(Expr x);  // log(1 + exp(x))
Expr log1mexp(Expr x);  // log(1 - exp(x))
Expr tanh(Expr x);
Expr sinh(Expr x);
Expr cosh(Expr x);
Expr sin(Expr x);
Expr cos(Expr x);
Expr tan(Expr x);
Expr asin(Expr x);
Expr acos(Expr x);
Expr atan(Expr x);
Expr atan2(Expr y, Expr x);  // the angle of the point (x, y)
Expr asinh(Expr x);
Expr acosh(Expr x);
Expr atanh(Expr x);

Expr erf(Expr x);
Expr erfc(Expr x);
Expr erfcx(Expr x);  // exp(x * x) * erfc(x)
Expr erfinv(Expr x);
Expr erfcinv(Expr x);
Expr erfinv_inside(Expr x);  // erfinv for |x| < 1 that is seldom near 1, as for random numbers
Expr ndtr(Expr x);           // the normal distribution function, erfc(-x / sqrt 2) / 2
Expr log_ndtr(Expr x);       // its logarithm
Expr gamma(Expr x);
Expr gammaln(Expr x);              // log |Gamma(x)|
Expr stirling_rest(Expr inverse);  // gammaln(x) - ((x - 1/2) log(x) - x + log(2 pi) / 2) by 1 / x, x >= 4.25
Expr digamma(Expr x);              // the derivative of gammaln
Expr trigamma(Expr x);             // and its derivative

}  // namespace bitale::program::math
