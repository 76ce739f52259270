// Probabilities of counts by a linear predictor: the logit of a probability, or the logarithm of a mean. Nothing is
// rounded to 0 or 1 on the way, so they are exact in both tails.
#include "bitale/ops/special.hpp"
#include "bitale/stats/densities.hpp"
#include "stats/arguments.hpp"
#include "stats/counts.hpp"
#include "stats/distribution.hpp"

namespace bitale::stats {

using V = const Variable&;

Variable bernoulli_logit_logpmf(const Operand& x, const Operand& logit) {
  return density(
      "bernoulli_logit_logpmf",
      [](V x, V logit) {
        const Variable outside = and_(neq(x, 0), and_(neq(x, 1), eq(x, x)));
        return switch_(outside, -infinity, -softplus((1 - 2 * x) * logit));
      },
      x, logit);
}

Variable binomial_logit_logpmf(const Operand& x, const Operand& n, const Operand& logit) {
  return density(
      "binomial_logit_logpmf",
      [](V x, V n, V logit) {
        const Variable valid = and_(ge(n, 0), eq(n, floor(n)));
        const Variable value = within_support(or_(is_no_count(x), gt(x, n)), x, 0, [&](V x) {
          return log_binomial(n, x) - (x * softplus(-logit) + (n - x) * softplus(logit));
        });
        return in_domain(valid, value);
      },
      x, n, logit);
}

Variable poisson_log_logpmf(const Operand& x, const Operand& log_lam) {
  return density(
      "poisson_log_logpmf",
      [](V x, V log_lam) {
        return within_support(is_no_count(x), x, 0, [&](V x) { return x * log_lam - exp(log_lam) - gammaln(x + 1); });
      },
      x, log_lam);
}

namespace {

// mu^x phi^phi / (mu + phi)^(x + phi), by the ratio r = mu / phi and its logarithm.
Variable negative_binomial_by(V x, V phi, V log_ratio) {
  return log_choices_of_failures(phi, x) -
         (x * softplus(-log_ratio) + in_domain(gt(phi, 0), phi) * softplus(log_ratio));
}

}  // namespace

Variable negative_binomial_2_logpmf(const Operand& x, const Operand& mu, const Operand& phi) {
  return density(
      "negative_binomial_2_logpmf",
      [](V x, V mu, V phi) {
        return within_support(is_no_count(x), x, 0, [&](V x) {
          const Variable failures = xlog1py(x, phi / mu) + phi * log1p(mu / phi);
          return log_choices_of_failures(phi, x) - in_domain(and_(gt(mu, 0), gt(phi, 0)), failures);
        });
      },
      x, mu, phi);
}
Variable negative_binomial_2_log_logpmf(const Operand& x, const Operand& log_mu, const Operand& phi) {
  return density(
      "negative_binomial_2_log_logpmf",
      [](V x, V log_mu, V phi) {
        return within_support(is_no_count(x), x, 0,
                              [&](V x) { return negative_binomial_by(x, phi, log_mu - log(phi)); });
      },
      x, log_mu, phi);
}

// ---- records -------------------------------------------------------------------------------------------------------

DISTRIBUTION({
    .name = "bernoulli_logit",
    .title = "Bernoulli distribution by its logit",
    .parameters = {{"logit", "Logit of the probability of 1."}},
    .log_functions = {LOG_FUNCTION(bernoulli_logit_logpmf)},
});

DISTRIBUTION({
    .name = "binomial_logit",
    .title = "binomial distribution by its logit",
    .parameters = {{"n", "Number of trials."}, {"logit", "Logit of the probability of a success."}},
    .log_functions = {LOG_FUNCTION(binomial_logit_logpmf)},
});

DISTRIBUTION({
    .name = "poisson_log",
    .title = "Poisson distribution by the logarithm of its mean",
    .parameters = {{"log_lam", "Logarithm of the mean."}},
    .log_functions = {LOG_FUNCTION(poisson_log_logpmf)},
});

DISTRIBUTION({
    .name = "negative_binomial_2",
    .title = "negative binomial distribution by its mean",
    .parameters = {{"mu", "Mean, positive."}, {"phi", "Precision, positive: the variance is ``mu + mu**2 / phi``."}},
    .log_functions = {LOG_FUNCTION(negative_binomial_2_logpmf)},
});

DISTRIBUTION({
    .name = "negative_binomial_2_log",
    .title = "negative binomial distribution by the logarithm of its mean",
    .parameters = {{"log_mu", "Logarithm of the mean."},
                   {"phi", "Precision, positive: the variance is ``mu + mu**2 / phi``."}},
    .log_functions = {LOG_FUNCTION(negative_binomial_2_log_logpmf)},
});

}  // namespace bitale::stats
