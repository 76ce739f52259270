// Densities with a location and a scale: functions of z = (x - loc) / scale. A scale that is not positive gives nan by
// its logarithm.
#include <cmath>

#include "bitale/ops/special.hpp"
#include "bitale/stats/densities.hpp"
#include "stats/arguments.hpp"

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
        const Variable df = switch_(eq(given, infinity), given.dtype() == DType::Float32 ? 1e30 : 1e100, given);
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

namespace {

// log(Phi(b) - Phi(a)) for a <= b: from the nearer tail by logarithms, which keep their digits far out; by erf where
// the interval contains 0.
Variable log_mass_between(const Variable& a, const Variable& b) {
  const Variable is_above = gt(a, 0), is_around = and_(le(a, 0), ge(b, 0));
  const Variable low = switch_(is_around, -2, switch_(is_above, -b, a));
  const Variable high = switch_(is_around, -1, switch_(is_above, -a, b));
  const Variable log_high = log_ndtr(high), in_tail = log_high + log1mexp(log_ndtr(low) - log_high);
  const auto half_erf = [&](const Variable& z, double other) {
    return erf(switch_(is_around, z, other) * std::sqrt(0.5));
  };
  return switch_(is_around, log(0.5 * (half_erf(b, 1) - half_erf(a, -1))), in_tail);
}

}  // namespace

// Limits at infinity are replaced by ones so far out that no intermediate value is infinite.
Variable truncated_normal_logpdf(const Operand& x, const Operand& loc, const Operand& scale, const Operand& lower,
                                 const Operand& upper) {
  return density(
      "truncated_normal_logpdf",
      [](V x, V loc, V scale, V lower, V upper) {
        const auto in_deviations = [&](const Variable& limit) {
          const Variable is_far = isinf(limit);
          return switch_(is_far, sign(limit) * 1e150, (switch_(is_far, loc, limit) - loc) / scale);
        };
        const Variable mass = in_domain(lt(lower, upper), log_mass_between(in_deviations(lower), in_deviations(upper)));
        const Variable value = -0.5 * sqr((x - loc) / scale) - (log(scale) + half_log_two_pi + mass);
        return switch_(or_(lt(x, lower), gt(x, upper)), -infinity, value);
      },
      x, loc, scale, lower, upper);
}

}  // namespace bitale::stats
