// Densities of positive numbers. Terms of the parameters alone are grouped, so that they are computed once.
#include "bitale/ops/special.hpp"
#include "bitale/stats/densities.hpp"
#include "stats/arguments.hpp"
#include "stats/distribution.hpp"

namespace bitale::stats {

using V = const Variable&;

namespace {

// By the logarithm of the rate, which both parametrisations have at hand.
Variable gamma_density(V x, V shape, V rate, V log_rate) {
  const Variable constant = in_domain(gt(shape, 0), shape * log_rate - gammaln(shape));
  return within_support(or_(lt(x, 0), eq(x, infinity)), x, 1,
                        [&](V x) { return constant + xlogy(shape - 1, x) - rate * x; });
}

}  // namespace

Variable exponential_logpdf(const Operand& x, const Operand& scale) {
  return density(
      "exponential_logpdf", [](V x, V scale) { return switch_(lt(x, 0), -infinity, -(x / scale + log(scale))); }, x,
      scale);
}

Variable truncexpon_logpdf(const Operand& x, const Operand& b, const Operand& loc, const Operand& scale) {
  return density(
      "truncexpon_logpdf",
      [](V x, V b, V loc, V scale) {
        const Variable z = (x - loc) / scale, constant = log(scale) + log1mexp(-b);
        return in_domain(gt(b, 0), switch_(or_(lt(z, 0), gt(z, b)), -infinity, -(z + constant)));
      },
      x, b, loc, scale);
}

Variable gamma_logpdf(const Operand& x, const Operand& shape, const Operand& scale) {
  return density(
      "gamma_logpdf", [](V x, V shape, V scale) { return gamma_density(x, shape, reciprocal(scale), -log(scale)); }, x,
      shape, scale);
}
Variable gamma_rate_logpdf(const Operand& x, const Operand& shape, const Operand& rate) {
  return density(
      "gamma_logpdf", [](V x, V shape, V rate) { return gamma_density(x, shape, rate, log(rate)); }, x, shape, rate);
}
Variable chisquare_logpdf(const Operand& x, const Operand& df) {
  return density(
      "chisquare_logpdf",
      [](V x, V df) { return gamma_density(x, 0.5 * df, constant_like_of(df, 0.5), constant_like_of(df, -log_two)); },
      x, df);
}

// The power p of x / lambd is a gamma variable of shape alpha / p.
Variable gengamma_logpdf(const Operand& x, const Operand& alpha, const Operand& p, const Operand& lambd) {
  return density(
      "gengamma_logpdf",
      [](V x, V alpha, V p, V lambd) {
        const Variable constant = in_domain(gt(alpha, 0), log(p) - log(lambd) - gammaln(alpha / p));
        return within_support(or_(lt(x, 0), eq(x, infinity)), x, 1, [&](V x) {
          const Variable z = x / lambd;
          return constant + xlogy(alpha - 1, z) - pow(z, p);
        });
      },
      x, alpha, p, lambd);
}

Variable invgamma_logpdf(const Operand& x, const Operand& shape, const Operand& scale) {
  return density(
      "invgamma_logpdf",
      [](V x, V shape, V scale) {
        const Variable constant = in_domain(gt(shape, 0), shape * log(scale) - gammaln(shape));
        return within_support(le(x, 0), x, 1, [&](V x) { return constant - (shape + 1) * log(x) - scale / x; });
      },
      x, shape, scale);
}

Variable weibull_logpdf(const Operand& x, const Operand& shape, const Operand& scale) {
  return density(
      "weibull_logpdf",
      [](V x, V shape, V scale) {
        const Variable constant = log(shape) - log(scale);
        return within_support(or_(lt(x, 0), eq(x, infinity)), x, 1, [&](V x) {
          const Variable z = x / scale;
          return constant + xlogy(shape - 1, z) - pow(z, shape);
        });
      },
      x, shape, scale);
}

Variable pareto_logpdf(const Operand& x, const Operand& b, const Operand& scale) {
  return density(
      "pareto_logpdf",
      [](V x, V b, V scale) {
        const Variable constant = log(b) + b * log(scale), outside = lt(x, scale);
        const Variable value = constant - (b + 1) * log(switch_(outside, 1, x));
        return in_domain(and_(gt(b, 0), gt(scale, 0)), switch_(outside, -infinity, value));
      },
      x, b, scale);
}

Variable rayleigh_logpdf(const Operand& x, const Operand& scale) {
  return density(
      "rayleigh_logpdf",
      [](V x, V scale) {
        return within_support(or_(le(x, 0), eq(x, infinity)), x, 1,
                              [&](V x) { return log(x) - 0.5 * sqr(x / scale) - 2 * log(scale); });
      },
      x, scale);
}

Variable wald_logpdf(const Operand& x, const Operand& mean, const Operand& scale) {
  return density(
      "wald_logpdf",
      [](V x, V mean, V scale) {
        const Variable constant = in_domain(gt(mean, 0), 0.5 * (log(scale) - log_two_pi));
        const Variable half_scale = 0.5 * scale;
        return within_support(or_(le(x, 0), eq(x, infinity)), x, 1, [&](V x) {
          const Variable off = x / mean - 1;  // its square may overflow
          return constant - 1.5 * log(x) - (half_scale * off) * (off / x);
        });
      },
      x, mean, scale);
}

// ---- records -------------------------------------------------------------------------------------------------------

using P = const Variables&;

DISTRIBUTION({
    .name = "exponential",
    .title = "exponential distribution",
    .parameters = {{"scale", "Mean, the reciprocal of the rate; positive.", 1.0}},
    .draw = draw_function<random::exponential>(),
    .log_functions = {LOG_FUNCTION(exponential_logpdf), LOG_FUNCTION(exponential_logcdf),
                      LOG_FUNCTION(exponential_logsf)},
    .pytensor_class = "ExponentialRV",
});

DISTRIBUTION({
    .name = "truncexpon",
    .title = "exponential distribution truncated to an interval",
    .parameters = {{"b", "Length of the interval in units of `scale`, positive.", {}, Allowed::positive},
                   {"loc", "Lower end.", 0.0},
                   {"scale", "Scale, positive.", 1.0, Allowed::not_negative}},
    .draw = draw_function<random::truncexpon>(),
    .composed_of = {[](DrawSource& from, P p) { return -log1p(from.unit() * expm1(-p[0])) * p[2] + p[1]; }},
    .log_functions = {LOG_FUNCTION(truncexpon_logpdf)},
    .draw_notes = "By the inverse distribution function.",
    .pytensor_class = "TruncExponentialRV",
});

DISTRIBUTION({
    .name = "gengamma",
    .title = "generalised gamma distribution",
    .parameters = {{"alpha", "Shape, positive: near 0 the density is proportional to the power ``alpha - 1``.", 1.0,
                    Allowed::positive},
                   {"p", "Power in the exponent, positive.", 1.0, Allowed::positive},
                   {"lambd", "Scale, positive.", 1.0, Allowed::not_negative}},
    .draw = draw_function<random::gengamma>(),
    .composed_of = {[](DrawSource& from, P p) {
      return pow(from.draw("standard_gamma", {p[0] / p[1]}), 1.0 / p[1]) * p[2];
    }},
    .log_functions = {LOG_FUNCTION(gengamma_logpdf)},
    .draw_notes = "The draws are `lambd` times a gamma variable of shape ``alpha / p``, to the power ``1 / p``.",
    .pytensor_class = "GenGammaRV",
});

DISTRIBUTION({
    .name = "invgamma",
    .title = "inverse gamma distribution",
    .parameters = {{"shape", "Shape, positive.", {}, Allowed::not_negative_or_nan},
                   {"scale", "Scale, positive.", {}, Allowed::not_negative_or_nan, DType::Float64, 1.0}},
    .draw = draw_function<random::invgamma>(),
    .composed_of = {[](DrawSource& from, P p) { return 1.0 / (1.0 / p[1] * from.draw("standard_gamma", {p[0]})); }},
    .log_functions = {LOG_FUNCTION(invgamma_logpdf)},
    .draw_notes = "The draws are inverses of gamma variables with scale ``1 / scale``.",
    .pytensor_class = "InvGammaRV",
});

DISTRIBUTION({
    .name = "chisquare",
    .title = "chi-squared distribution",
    .parameters = {{"df", "Degrees of freedom, positive."}},
    .draw = draw_function<random::chisquare>(),
    .log_functions = {LOG_FUNCTION(chisquare_logpdf)},
});

DISTRIBUTION({
    .name = "weibull",
    .title = "Weibull distribution",
    .parameters = {{"shape", "Shape, positive."}, {"scale", "Scale, positive.", 1.0}},
    .draw = draw_function<random::weibull>(),
    .log_functions = {LOG_FUNCTION(weibull_logpdf), LOG_FUNCTION(weibull_logcdf), LOG_FUNCTION(weibull_logsf)},
    .draw_notes = "Draws have scale 1.",
    .pytensor_class = "WeibullRV",
});

DISTRIBUTION({
    .name = "pareto",
    .title = "Pareto distribution",
    .parameters = {{"b", "Shape, positive.", {}, Allowed::positive},
                   {"scale", "Lower end, positive.", 1.0, Allowed::not_negative}},
    .draw = draw_function<random::pareto>(),
    .composed_of = {[](DrawSource& from, P p) { return pow(1.0 - from.unit(), -1.0 / p[0]) * p[1]; }},
    .log_functions = {LOG_FUNCTION(pareto_logpdf), LOG_FUNCTION(pareto_logcdf), LOG_FUNCTION(pareto_logsf)},
    .draw_notes = "By the inverse distribution function.",
    .pytensor_class = "ParetoRV",
});

DISTRIBUTION({
    .name = "rayleigh",
    .title = "Rayleigh distribution",
    .parameters = {{"scale", "Scale, positive: the mode.", 1.0}},
    .draw = draw_function<random::rayleigh>(),
    .log_functions = {LOG_FUNCTION(rayleigh_logpdf), LOG_FUNCTION(rayleigh_logcdf), LOG_FUNCTION(rayleigh_logsf)},
    .draw_notes = "The draws are NumPy's; PyTensor's differ.",
});

DISTRIBUTION({
    .name = "wald",
    .title = "Wald (inverse Gaussian) distribution",
    .parameters = {{"mean", "Mean, positive.", 1.0}, {"scale", "Scale, positive.", 1.0}},
    .draw = draw_function<random::wald>(),
    .log_functions = {LOG_FUNCTION(wald_logpdf)},
    .pytensor_class = "WaldRV",
});

// Its density takes a rate in place of the scale as well, and so is bound by hand.
DISTRIBUTION({
    .name = "gamma",
    .title = "gamma distribution",
    .parameters = {{"shape", "Shape, positive."}, {"scale", "Scale, positive."}},
    .draw = draw_function<random::gamma>(),
    .draw_notes = "The mean is ``shape * scale``.",
    .pytensor_class = "GammaRV",
});

}  // namespace bitale::stats
