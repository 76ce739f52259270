// Logarithms of densities and of probabilities, elementwise, of the distributions that ops/random.hpp draws, with its
// names and parameters; and of the forms of counts and categories by a linear predictor (logit, log) that regressions
// use. The first argument is the value; all broadcast, and the dtype is that of those which have one. -inf outside the
// support and for values of a discrete distribution that are no whole numbers; nan for a nan, and for parameters
// outside their domain.
#pragma once

#include "bitale/ops/operand.hpp"

namespace bitale::stats {

// clang-format off
#define BITALE_LOG_DENSITIES_BY_ONE(X)                                                                                 \
  X(exponential_logpdf, scale) X(chisquare_logpdf, df) X(rayleigh_logpdf, scale)                                       \
  X(bernoulli_logpmf, p) X(poisson_logpmf, lam) X(geometric_logpmf, p)                                                 \
  X(bernoulli_logit_logpmf, logit) X(poisson_log_logpmf, log_lam)                                                      \
  X(exponential_logcdf, scale) X(exponential_logsf, scale) X(rayleigh_logcdf, scale) X(rayleigh_logsf, scale)
#define BITALE_LOG_DENSITIES_BY_TWO(X)                                                                                 \
  X(uniform_logpdf, low, high) X(normal_logpdf, loc, scale) X(halfnormal_logpdf, loc, scale)                           \
  X(lognormal_logpdf, mean, sigma) X(cauchy_logpdf, loc, scale) X(halfcauchy_logpdf, loc, scale)                       \
  X(laplace_logpdf, loc, scale) X(logistic_logpdf, loc, scale) X(gumbel_logpdf, loc, scale)                            \
  X(gamma_logpdf, shape, scale) X(gamma_rate_logpdf, shape, rate) X(invgamma_logpdf, shape, scale)                     \
  X(beta_logpdf, alpha, beta) X(weibull_logpdf, shape, scale) X(pareto_logpdf, b, scale) X(wald_logpdf, mean, scale)   \
  X(vonmises_logpdf, mu, kappa) X(binomial_logpmf, n, p) X(negative_binomial_logpmf, n, p)                             \
  X(integers_logpmf, low, high) X(binomial_logit_logpmf, n, logit) X(negative_binomial_2_logpmf, mu, phi)              \
  X(negative_binomial_2_log_logpmf, log_mu, phi)                                                                       \
  X(uniform_logcdf, low, high) X(uniform_logsf, low, high) X(normal_logcdf, loc, scale) X(normal_logsf, loc, scale)    \
  X(halfnormal_logcdf, loc, scale) X(halfnormal_logsf, loc, scale) X(lognormal_logcdf, mean, sigma)                    \
  X(lognormal_logsf, mean, sigma) X(cauchy_logcdf, loc, scale) X(cauchy_logsf, loc, scale)                             \
  X(laplace_logcdf, loc, scale) X(laplace_logsf, loc, scale) X(logistic_logcdf, loc, scale)                            \
  X(logistic_logsf, loc, scale) X(gumbel_logcdf, loc, scale) X(gumbel_logsf, loc, scale)                               \
  X(weibull_logcdf, shape, scale) X(weibull_logsf, shape, scale) X(pareto_logcdf, b, scale) X(pareto_logsf, b, scale)
#define BITALE_LOG_DENSITIES_BY_THREE(X)                                                                               \
  X(t_logpdf, df, loc, scale) X(truncexpon_logpdf, b, loc, scale) X(gengamma_logpdf, alpha, p, lambd)                  \
  X(triangular_logpdf, left, mode, right) X(betabinom_logpmf, n, a, b)                                                 \
  X(hypergeometric_logpmf, ngood, nbad, nsample)
#define BITALE_LOG_DENSITIES_BY_FOUR(X) X(truncated_normal_logpdf, loc, scale, lower, upper)
// clang-format on
#define BITALE_DECLARE(name, a) Variable name(const Operand& x, const Operand& a);
BITALE_LOG_DENSITIES_BY_ONE(BITALE_DECLARE)
#undef BITALE_DECLARE
#define BITALE_DECLARE(name, a, b) Variable name(const Operand& x, const Operand& a, const Operand& b);
BITALE_LOG_DENSITIES_BY_TWO(BITALE_DECLARE)
#undef BITALE_DECLARE
#define BITALE_DECLARE(name, a, b, c) \
  Variable name(const Operand& x, const Operand& a, const Operand& b, const Operand& c);
BITALE_LOG_DENSITIES_BY_THREE(BITALE_DECLARE)
#undef BITALE_DECLARE
#define BITALE_DECLARE(name, a, b, c, d) \
  Variable name(const Operand& x, const Operand& a, const Operand& b, const Operand& c, const Operand& d);
BITALE_LOG_DENSITIES_BY_FOUR(BITALE_DECLARE)
#undef BITALE_DECLARE

}  // namespace bitale::stats
