// Densities with a location and a scale: functions of z = (x - loc) / scale. A scale that is not positive gives nan by
// its logarithm.
#include <cmath>
#include <numbers>

#include "bitale/ops/special.hpp"
#include "bitale/stats/densities.hpp"
#include "stats/arguments.hpp"
#include "stats/distribution.hpp"

namespace bitale::stats {

using V = const Variable&;

Variable normal_logpdf(const Operand& x, const Operand& loc, const Operand& scale) {
  return density(
      "normal_logpdf",
      [](V x, V loc, V scale) { return -0.5 * sqr((x - loc) / scale) - (log(scale) + half_log_two_pi); }, x, loc,
      scale);
}

Variable halfnormal_logpdf(const Operand& x, const Operand& loc, const Operand& scale) {
  return density(
      "halfnormal_logpdf",
      [](V x, V loc, V scale) {
        const Variable value = -0.5 * sqr((x - loc) / scale) - (log(scale) + (half_log_two_pi - log_two));
        return switch_(lt(x, loc), -infinity, value);
      },
      x, loc, scale);
}

Variable lognormal_logpdf(const Operand& x, const Operand& mean, const Operand& sigma) {
  return density(
      "lognormal_logpdf",
      [](V x, V mean, V sigma) {
        return within_support(le(x, 0), x, 1, [&](V x) {
          const Variable log_x = log(x);
          return -0.5 * sqr((log_x - mean) / sigma) - log_x - (log(sigma) + half_log_two_pi);
        });
      },
      x, mean, sigma);
}

Variable cauchy_logpdf(const Operand& x, const Operand& loc, const Operand& scale) {
  return density(
      "cauchy_logpdf",
      [](V x, V loc, V scale) { return -(log1p_of_square(abs(x - loc) / scale) + (log(scale) + log_pi)); }, x, loc,
      scale);
}

Variable halfcauchy_logpdf(const Operand& x, const Operand& loc, const Operand& scale) {
  return density(
      "halfcauchy_logpdf",
      [](V x, V loc, V scale) {
        const Variable value = -(log1p_of_square((x - loc) / scale) + (log(scale) + (log_pi - log_two)));
        return switch_(lt(x, loc), -infinity, value);
      },
      x, loc, scale);
}

// The constant is 1 / (sqrt(df) B(df / 2, 1 / 2)), which keeps its digits for large df. In place of an
// infinite one there is one so large that the density is the normal's to the last digit.
Variable t_logpdf(const Operand& x, const Operand& df, const Operand& loc, const Operand& scale) {
  return density(
      "t_logpdf",
      [](V x, V given, V loc, V scale) {
        const Variable df = switch_(eq(given, infinity), given.dtype() == DType::Float32 ? 0x1p100 : 0x1p400, given);
        const Variable constant = 0.5 * log(df) + betaln(0.5 * df, constant_like_of(df, 0.5)) + log(scale);
        return -(0.5 * (df + 1) * log1p_of_square(abs(x - loc) / (scale * sqrt(df))) + constant);
      },
      x, df, loc, scale);
}

Variable laplace_logpdf(const Operand& x, const Operand& loc, const Operand& scale) {
  return density(
      "laplace_logpdf", [](V x, V loc, V scale) { return -(abs(x - loc) / scale + (log(scale) + log_two)); }, x, loc,
      scale);
}

Variable logistic_logpdf(const Operand& x, const Operand& loc, const Operand& scale) {
  return density(
      "logistic_logpdf",
      [](V x, V loc, V scale) {
        const Variable z = abs((x - loc) / scale);
        return -(z + 2 * softplus_of_minus_abs(z) + log(scale));
      },
      x, loc, scale);
}

Variable gumbel_logpdf(const Operand& x, const Operand& loc, const Operand& scale) {
  return density(
      "gumbel_logpdf",
      [](V x, V loc, V scale) {
        return within_support(eq(x, -infinity), x, 0, [&](V x) {
          const Variable z = (x - loc) / scale;
          return -(z + exp(-z) + log(scale));
        });
      },
      x, loc, scale);
}

// kappa (cos(x - mu) - 1) - log(2 pi exp(-kappa) I0(kappa)), where cos(y) - 1 = -2 sin(y / 2)^2.
Variable vonmises_logpdf(const Operand& x, const Operand& mu, const Operand& kappa) {
  return density(
      "vonmises_logpdf",
      [](V x, V mu, V kappa) {
        const Variable constant = log(ive(zeros_like(kappa), kappa)) + log_two_pi;
        return -(2 * kappa * sqr(sin(0.5 * (x - mu))) + in_domain(ge(kappa, 0), constant));
      },
      x, mu, kappa);
}

// By the distance t of x from a point `near`, in deviations: loc if that is inside the interval, otherwise the end next
// to it, a deviations off. The density is exp(-t (a + t / 2)) over its integral along the interval, and no term is
// large where that is far out or narrow.
Variable truncated_normal_logpdf(const Operand& x, const Operand& loc, const Operand& scale, const Operand& lower,
                                 const Operand& upper) {
  return density(
      "truncated_normal_logpdf",
      [](V x, V loc, V scale, V lower, V upper) {
        const auto number = [&](double value) { return constant_like_of(scale, value); };
        const Variable is_above = ge(lower, loc), is_below = le(upper, loc);
        const Variable unit = switch_(is_below, -scale, scale);
        // An infinite end is replaced by one that no result can be told from it.
        const Variable has_no_low = isinf(lower), has_no_high = isinf(upper);
        const Variable low = switch_(has_no_low, loc, lower), high = switch_(has_no_high, loc, upper);
        const Variable h = switch_(or_(has_no_low, has_no_high), 0x1p60, (high - low) / scale);
        const Variable end = switch_(is_below, high, low);
        const Variable is_narrow = lt(h * (abs(end - loc) / scale + 1), 0.5);
        const Variable is_around = invert(or_(or_(is_above, is_below), is_narrow));
        const Variable near = switch_(is_around, loc, end), a = (near - loc) / unit;

        // The integral of exp(-a t - t^2 / 2) along the interval. By the distribution function on both sides of loc:
        const Variable half = number(std::sqrt(0.5));
        const Variable around = erf(half * switch_(has_no_high, 30, (high - loc) / scale)) +
                                erf(half * switch_(has_no_low, 30, (loc - low) / scale));
        // By two tails:
        const Variable tails = erfcx(half * a) - erfcx(half * (a + h)) * exp(-h * (a + 0.5 * h));
        // By the width, where those would cancel, and the mean relative to the value in the middle (a quadrature of
        // Gauss and Legendre, of seven points):
        const Variable d = switch_(is_narrow, 0.5 * h, 0), to_middle = d * (a + 0.5 * d), slope = d * (a + d);
        const auto pair = [&](double at, double weight) {
          return number(weight) * cosh(number(at) * slope) * exp(number(-0.5 * at * at) * sqr(d));
        };
        const Variable mean = number(256.0 / 1225) + pair(0.40584515137739716691, 0.38183005050511894495) +
                              pair(0.74153118559939443986, 0.27970539148927666790) +
                              pair(0.94910791234275852453, 0.12948496616886969327);
        const Variable root = number(std::sqrt(std::numbers::pi / 2));
        const Variable integral = switch_(is_narrow, mean, root * switch_(is_around, around, tails));

        const Variable is_valid = and_(lt(lower, upper), gt(scale, 0));
        const Variable unit_of_integral = switch_(is_narrow, high - low, scale);
        const Variable constant = in_domain(is_valid, log(unit_of_integral) + log(integral) - to_middle);
        const Variable t = (x - near) / unit;
        return switch_(or_(lt(x, lower), gt(x, upper)), -infinity, -(t * (a + 0.5 * t) + constant));
      },
      x, loc, scale, lower, upper);
}

// ---- records -------------------------------------------------------------------------------------------------------

using P = const Variables&;

DISTRIBUTION({
    .name = "normal",
    .title = "normal distribution",
    .parameters = {{"loc", "Mean.", 0.0}, {"scale", "Standard deviation, positive.", 1.0}},
    .draw = draw_function<random::normal>(),
    .log_functions = {LOG_FUNCTION(normal_logpdf), LOG_FUNCTION(normal_logcdf), LOG_FUNCTION(normal_logsf)},
    .pytensor_class = "NormalRV",
});

DISTRIBUTION({
    .name = "halfnormal",
    .title = "half-normal distribution",
    .parameters = {{"loc", "Lower end.", 0.0},
                   {"scale", "Standard deviation of the normal distribution that is folded, positive.", 1.0,
                    Allowed::not_negative}},
    .draw = draw_function<random::halfnormal>(),
    .composed_of = {[](DrawSource& from, P p) { return abs(from.draw("standard_normal")) * p[1] + p[0]; }},
    .log_functions = {LOG_FUNCTION(halfnormal_logpdf), LOG_FUNCTION(halfnormal_logcdf), LOG_FUNCTION(halfnormal_logsf)},
    .pytensor_class = "HalfNormalRV",
});

// By the inverse distribution function, in logarithms and from the nearer tail, so that intervals far from the mean
// keep their precision.
static Variable truncated_normal_of(DrawSource& from, const Variables& p) {
  const Variable &loc = p[0], &scale = p[1], u = maximum(from.unit(), 0x1p-54);
  // An infinite limit is replaced by one far out, so that no intermediate value is infinite.
  const auto in_deviations = [&](const Variable& limit) {
    const Variable is_far = isinf(limit);
    return switch_(is_far, sign(limit) * 1e150, (switch_(is_far, loc, limit) - loc) / scale);
  };
  const Variable a = in_deviations(p[2]), b = in_deviations(p[3]), flips = gt(a, 0);
  const Variable low = switch_(flips, -b, a), high = switch_(flips, -a, b);
  // The logarithm of a sum with finite terms.
  const Variable from_low = log_ndtr(low) + log1p(-u), from_high = log_ndtr(high) + log(u);
  const Variable log_p = maximum(from_low, from_high) + log1p(exp(-abs(from_high - from_low)));
  const Variable z = clip(ndtri_exp(minimum(log_p, 0.0)), low, high);
  return clip(loc + scale * switch_(flips, -z, z), p[2], p[3]);
}

DISTRIBUTION({
    .name = "truncated_normal",
    .title = "normal distribution truncated to an interval",
    .parameters = {{"loc", "Mean before truncation.", 0.0},
                   {"scale", "Standard deviation before truncation, positive.", 1.0, Allowed::positive},
                   {"lower", "Lower end.", -infinity},
                   {"upper", "Upper end, above `lower`.", infinity}},
    .draw = draw_function<random::truncated_normal>(),
    .composed_of = {truncated_normal_of, DType::Float64, std::pair<std::size_t, std::size_t>(2, 3)},
    .log_functions = {LOG_FUNCTION(truncated_normal_logpdf)},
    .draw_notes = "By the inverse distribution function, in logarithms and from the nearer tail, "
                  "so that intervals far from the mean keep their precision.",
});

DISTRIBUTION({
    .name = "lognormal",
    .title = "log-normal distribution",
    .parameters = {{"mean", "Mean of the logarithm.", 0.0},
                   {"sigma", "Standard deviation of the logarithm, positive.", 1.0}},
    .draw = draw_function<random::lognormal>(),
    .log_functions = {LOG_FUNCTION(lognormal_logpdf), LOG_FUNCTION(lognormal_logcdf), LOG_FUNCTION(lognormal_logsf)},
    .pytensor_class = "LogNormalRV",
});

DISTRIBUTION({
    .name = "t",
    .title = "t distribution of Student",
    .parameters = {{"df", "Degrees of freedom, positive.", {}, Allowed::positive},
                   {"loc", "Location.", 0.0},
                   {"scale", "Scale, positive.", 1.0, Allowed::not_negative}},
    .draw = draw_function<random::t>(),
    .composed_of = {[](DrawSource& from, P p) { return from.draw("standard_t", {p[0]}) * p[2] + p[1]; }},
    .log_functions = {LOG_FUNCTION(t_logpdf)},
    .pytensor_class = "StudentTRV",
});

DISTRIBUTION({
    .name = "cauchy",
    .title = "Cauchy distribution",
    .parameters = {{"loc", "Median.", 0.0}, {"scale", "Scale, positive.", 1.0, Allowed::not_negative}},
    .draw = draw_function<random::cauchy>(),
    .composed_of = {[](DrawSource& from, P p) {
      return tan(std::numbers::pi * from.unit() - std::numbers::pi / 2) * p[1] + p[0];
    }},
    .log_functions = {LOG_FUNCTION(cauchy_logpdf), LOG_FUNCTION(cauchy_logcdf), LOG_FUNCTION(cauchy_logsf)},
    .draw_notes = "By the inverse distribution function.",
    .pytensor_class = "CauchyRV",
});

DISTRIBUTION({
    .name = "halfcauchy",
    .title = "half-Cauchy distribution",
    .parameters = {{"loc", "Lower end.", 0.0}, {"scale", "Scale, positive.", 1.0, Allowed::not_negative}},
    .draw = draw_function<random::halfcauchy>(),
    .composed_of = {[](DrawSource& from, P p) { return tan(std::numbers::pi / 2 * from.unit()) * p[1] + p[0]; }},
    .log_functions = {LOG_FUNCTION(halfcauchy_logpdf)},
    .draw_notes = "By the inverse distribution function.",
    .pytensor_class = "HalfCauchyRV",
});

DISTRIBUTION({
    .name = "laplace",
    .title = "Laplace (double exponential) distribution",
    .parameters = {{"loc", "Mean.", 0.0}, {"scale", "Scale, positive.", 1.0}},
    .draw = draw_function<random::laplace>(),
    .log_functions = {LOG_FUNCTION(laplace_logpdf), LOG_FUNCTION(laplace_logcdf), LOG_FUNCTION(laplace_logsf)},
    .pytensor_class = "LaplaceRV",
});

DISTRIBUTION({
    .name = "logistic",
    .title = "logistic distribution",
    .parameters = {{"loc", "Mean.", 0.0}, {"scale", "Scale, positive.", 1.0}},
    .draw = draw_function<random::logistic>(),
    .log_functions = {LOG_FUNCTION(logistic_logpdf), LOG_FUNCTION(logistic_logcdf), LOG_FUNCTION(logistic_logsf)},
    .pytensor_class = "LogisticRV",
});

DISTRIBUTION({
    .name = "gumbel",
    .title = "Gumbel distribution of maxima",
    .parameters = {{"loc", "Mode.", 0.0}, {"scale", "Scale, positive.", 1.0, Allowed::not_negative}},
    .draw = draw_function<random::gumbel>(),
    .composed_of = {[](DrawSource& from, P p) { return -log(-log(from.unit())) * p[1] + p[0]; }},
    .log_functions = {LOG_FUNCTION(gumbel_logpdf), LOG_FUNCTION(gumbel_logcdf), LOG_FUNCTION(gumbel_logsf)},
    .draw_notes = "By the inverse distribution function; as SciPy's ``gumbel_r``.",
    .pytensor_class = "GumbelRV",
});

DISTRIBUTION({
    .name = "vonmises",
    .title = "von Mises distribution",
    .parameters = {{"mu", "Mean direction, in radians."}, {"kappa", "Concentration, not negative."}},
    .draw = draw_function<random::vonmises>(),
    .log_functions = {LOG_FUNCTION(vonmises_logpdf)},
    .draw_notes = "Draws are in [-pi, pi].",
    .pytensor_class = "VonMisesRV",
});

DISTRIBUTION({
    .name = "standard_normal",
    .title = "normal distribution with mean 0 and standard deviation 1",
    .draw = draw_function<random::standard_normal>(),
});

}  // namespace bitale::stats
