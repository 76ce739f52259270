// Logarithms of distribution functions and of survival functions, each by the formula that keeps its digits in the tail
// where it is small: a pair for each distribution.
#include <cmath>
#include <numbers>

#include "bitale/ops/special.hpp"
#include "bitale/stats/densities.hpp"
#include "stats/arguments.hpp"

namespace bitale::stats {

using V = const Variable&;

namespace {

Variable checked_scale(V scale) { return in_domain(gt(scale, 0), scale); }

// log(1 - exp(-y)) for y >= 0: of the distribution function of a survival function exp(-y). Below 0 there is nothing.
Variable log_of_rest(V y) {
  return within_support(le(y, 0), y, 1, [](V y) { return log1mexp(-y); });
}

// log of (1/2 + atan(z) / pi), z = residual / scale: beyond 1, atan(1 / |z|) / pi is missing to 1 above 0, and is all
// there is below.
Variable log_cauchy(V residual, V scale) {
  const Variable size = abs(residual), is_far = gt(size, scale), is_above = gt(residual, scale);
  const Variable angle = arctan(switch_(is_far, scale, residual) / switch_(is_far, size, scale));
  const Variable part = angle / constant_like_of(scale, std::numbers::pi);
  const Variable above = log1p(-switch_(is_above, part, 0));
  return switch_(is_above, above, log(switch_(is_above, 1, switch_(is_far, part, 0.5 + part))));
}
Variable log_laplace(V z) { return switch_(lt(z, 0), z - log_two, log1p(-0.5 * exp(-switch_(lt(z, 0), 0, z)))); }
// log(part / (part + rest)), which has its digits next to 0 and to 1.
Variable log_share(V part, V rest) {
  return within_support(le(part, 0), part, 1, [&](V part) { return -log1p(maximum(rest, 0) / part); });
}

// log(1 - exp(-exp(w))). Below -40 it is w, and beyond 7 it is 0, to the last digit; the exponentials are not computed
// there.
Variable log_gumbel_survival(V w) { return switch_(lt(w, -40), w, log1mexp(-exp(clip(w, -40, 7)))); }

// A function of z = (x - loc) / scale.
template <class Function>
Variable located(const char* who, const Operand& x, const Operand& loc, const Operand& scale, Function of_z) {
  return density(
      who, [&](V x, V loc, V scale) { return of_z((x - loc) / checked_scale(scale)); }, x, loc, scale);
}

}  // namespace

Variable normal_logcdf(const Operand& x, const Operand& loc, const Operand& scale) {
  return located("normal_logcdf", x, loc, scale, [](V z) { return log_ndtr(z); });
}
Variable normal_logsf(const Operand& x, const Operand& loc, const Operand& scale) {
  return located("normal_logsf", x, loc, scale, [](V z) { return log_ndtr(-z); });
}

Variable halfnormal_logcdf(const Operand& x, const Operand& loc, const Operand& scale) {
  return located("halfnormal_logcdf", x, loc, scale, [](V z) {
    return within_support(le(z, 0), z, 1, [](V z) {
      const Variable a = z * constant_like_of(z, std::numbers::sqrt2 / 2);
      return -log1p(erfc(a) / erf(a));
    });
  });
}
Variable halfnormal_logsf(const Operand& x, const Operand& loc, const Operand& scale) {
  return located("halfnormal_logsf", x, loc, scale, [](V z) {
    const Variable is_near = lt(z, 1), tail = log_ndtr(-z) + constant_like_of(z, log_two);
    // Near 0 the terms of the tail cancel. Their derivatives do not, and only the value is replaced.
    const Variable near = log1p(-erf(clip(z, 0, 1) * constant_like_of(z, std::numbers::sqrt2 / 2)));
    const Variable value = switch_(is_near, disconnected_grad(near) + (tail - disconnected_grad(tail)), tail);
    return switch_(lt(z, 0), zeros_like(z), value);
  });
}

Variable lognormal_logcdf(const Operand& x, const Operand& mean, const Operand& sigma) {
  return density(
      "lognormal_logcdf",
      [](V x, V mean, V sigma) {
        return within_support(le(x, 0), x, 1, [&](V x) { return log_ndtr((log(x) - mean) / checked_scale(sigma)); });
      },
      x, mean, sigma);
}
Variable lognormal_logsf(const Operand& x, const Operand& mean, const Operand& sigma) {
  return density(
      "lognormal_logsf",
      [](V x, V mean, V sigma) {
        const Variable outside = le(x, 0);
        const Variable value = log_ndtr((mean - log(switch_(outside, 1, x))) / checked_scale(sigma));
        return switch_(outside, zeros_like(value), value);
      },
      x, mean, sigma);
}

Variable cauchy_logcdf(const Operand& x, const Operand& loc, const Operand& scale) {
  return density(
      "cauchy_logcdf", [](V x, V loc, V scale) { return log_cauchy(x - loc, checked_scale(scale)); }, x, loc, scale);
}
Variable cauchy_logsf(const Operand& x, const Operand& loc, const Operand& scale) {
  return density(
      "cauchy_logsf", [](V x, V loc, V scale) { return log_cauchy(loc - x, checked_scale(scale)); }, x, loc, scale);
}

Variable laplace_logcdf(const Operand& x, const Operand& loc, const Operand& scale) {
  return located("laplace_logcdf", x, loc, scale, log_laplace);
}
Variable laplace_logsf(const Operand& x, const Operand& loc, const Operand& scale) {
  return located("laplace_logsf", x, loc, scale, [](V z) { return log_laplace(-z); });
}

Variable logistic_logcdf(const Operand& x, const Operand& loc, const Operand& scale) {
  return located("logistic_logcdf", x, loc, scale, log_sigmoid);
}
Variable logistic_logsf(const Operand& x, const Operand& loc, const Operand& scale) {
  return located("logistic_logsf", x, loc, scale, [](V z) { return log_sigmoid(-z); });
}

Variable gumbel_logcdf(const Operand& x, const Operand& loc, const Operand& scale) {
  return located("gumbel_logcdf", x, loc, scale, [](V z) { return -exp(-z); });
}
Variable gumbel_logsf(const Operand& x, const Operand& loc, const Operand& scale) {
  return located("gumbel_logsf", x, loc, scale, [](V z) { return log_gumbel_survival(-z); });
}

Variable uniform_logcdf(const Operand& x, const Operand& low, const Operand& high) {
  return density(
      "uniform_logcdf", [](V x, V low, V high) { return in_domain(lt(low, high), log_share(x - low, high - x)); }, x,
      low, high);
}
Variable uniform_logsf(const Operand& x, const Operand& low, const Operand& high) {
  return density(
      "uniform_logsf", [](V x, V low, V high) { return in_domain(lt(low, high), log_share(high - x, x - low)); }, x,
      low, high);
}

Variable exponential_logcdf(const Operand& x, const Operand& scale) {
  return density(
      "exponential_logcdf", [](V x, V scale) { return log_of_rest(x / checked_scale(scale)); }, x, scale);
}
Variable exponential_logsf(const Operand& x, const Operand& scale) {
  return density(
      "exponential_logsf", [](V x, V scale) { return switch_(lt(x, 0), 0, -x) / checked_scale(scale); }, x, scale);
}

namespace {

Variable power(V x, V shape, V scale) {
  const Variable outside = le(x, 0);
  return switch_(outside, 0, pow(switch_(outside, 1, x) / checked_scale(scale), in_domain(gt(shape, 0), shape)));
}
Variable pareto_exponent(V x, V b, V scale) {
  const Variable outside = lt(x, scale);
  return switch_(outside, 0, in_domain(gt(b, 0), b) * log(switch_(outside, 1, x / checked_scale(scale))));
}

}  // namespace

Variable rayleigh_logcdf(const Operand& x, const Operand& scale) {
  return density(
      "rayleigh_logcdf",
      [](V x, V scale) {
        // Where the square may underflow, log(z^2 / 2) by log(z), to the last digit.
        return within_support(le(x, 0), x, 1, [&](V x) {
          const Variable z = x / checked_scale(scale), is_small = lt(z, 0x1p-56);
          const Variable value = log1mexp(-switch_(is_small, z, 0.5 * sqr(z)));
          return switch_(is_small, 2 * value - constant_like_of(z, log_two), value);
        });
      },
      x, scale);
}
Variable rayleigh_logsf(const Operand& x, const Operand& scale) {
  return density(
      "rayleigh_logsf", [](V x, V scale) { return -0.5 * sqr(switch_(lt(x, 0), 0, x) / checked_scale(scale)); }, x,
      scale);
}
Variable weibull_logcdf(const Operand& x, const Operand& shape, const Operand& scale) {
  return density(
      "weibull_logcdf",
      [](V x, V shape, V scale) {
        return within_support(le(x, 0), x, 1, [&](V x) {
          return log_gumbel_survival(in_domain(gt(shape, 0), shape) * log(x / checked_scale(scale)));
        });
      },
      x, shape, scale);
}
Variable weibull_logsf(const Operand& x, const Operand& shape, const Operand& scale) {
  return density(
      "weibull_logsf", [](V x, V shape, V scale) { return -power(x, shape, scale); }, x, shape, scale);
}
Variable pareto_logcdf(const Operand& x, const Operand& b, const Operand& scale) {
  return density(
      "pareto_logcdf", [](V x, V b, V scale) { return log_of_rest(pareto_exponent(x, b, scale)); }, x, b, scale);
}
Variable pareto_logsf(const Operand& x, const Operand& b, const Operand& scale) {
  return density(
      "pareto_logsf", [](V x, V b, V scale) { return -pareto_exponent(x, b, scale); }, x, b, scale);
}

}  // namespace bitale::stats
