// Probabilities of counts and of other whole numbers. Binomial coefficients are those of the beta function, so that
// they keep their digits for large numbers.
#include "stats/counts.hpp"

#include "bitale/ops/special.hpp"
#include "bitale/stats/densities.hpp"
#include "stats/arguments.hpp"
#include "stats/distribution.hpp"

namespace bitale::stats {

using V = const Variable&;

Variable log_binomial(const Variable& n, const Variable& k) { return -(log1p(n) + betaln(n - k + 1, k + 1)); }
Variable log_choices_of_failures(const Variable& n, const Variable& k) { return -(log(n + k) + betaln(n, k + 1)); }

namespace {

Variable is_probability(V p) { return and_(ge(p, 0), le(p, 1)); }
Variable is_count(V n) { return and_(ge(n, 0), eq(n, floor(n))); }

}  // namespace

// Of the two logarithms one is of another number, so that its derivative is finite where p is 0 or 1.
Variable bernoulli_logpmf(const Operand& x, const Operand& p) {
  return density(
      "bernoulli_logpmf",
      [](V x, V p) {
        const Variable is_one = eq(x, 1), outside = and_(neq(x, 0), and_(neq(x, 1), eq(x, x)));
        const Variable value = log(switch_(is_one, p, 1)) + log1p(-switch_(is_one, 0, p));
        return switch_(outside, -infinity, in_domain(is_probability(p), switch_(isnan(x), x, value)));
      },
      x, p);
}

Variable binomial_logpmf(const Operand& x, const Operand& n, const Operand& p) {
  return density(
      "binomial_logpmf",
      [](V x, V n, V p) {
        const Variable valid = and_(is_count(n), is_probability(p));
        const Variable value = within_support(or_(is_no_count(x), gt(x, n)), x, 0, [&](V x) {
          return log_binomial(n, x) + xlogy(x, p) + xlog1py(n - x, -p);
        });
        return in_domain(valid, value);
      },
      x, n, p);
}

Variable negative_binomial_logpmf(const Operand& x, const Operand& n, const Operand& p) {
  return density(
      "negative_binomial_logpmf",
      [](V x, V n, V p) {
        const Variable constant = in_domain(and_(gt(n, 0), and_(gt(p, 0), le(p, 1))), n * log(p));
        return within_support(is_no_count(x), x, 0,
                              [&](V x) { return log_choices_of_failures(n, x) + constant + xlog1py(x, -p); });
      },
      x, n, p);
}

Variable betabinom_logpmf(const Operand& x, const Operand& n, const Operand& a, const Operand& b) {
  return density(
      "betabinom_logpmf",
      [](V x, V n, V a, V b) {
        const Variable valid = and_(is_count(n), and_(gt(a, 0), gt(b, 0)));
        const Variable value = within_support(or_(is_no_count(x), gt(x, n)), x, 0, [&](V x) {
          return log_binomial(n, x) + betaln(x + a, n - x + b) - betaln(a, b);
        });
        return in_domain(valid, value);
      },
      x, n, a, b);
}

Variable poisson_logpmf(const Operand& x, const Operand& lam) {
  return density(
      "poisson_logpmf",
      [](V x, V lam) {
        return within_support(is_no_count(x), x, 0,
                              [&](V x) { return xlogy(x, lam) - in_domain(ge(lam, 0), lam) - gammaln(x + 1); });
      },
      x, lam);
}

// The number of the first success, from 1.
Variable geometric_logpmf(const Operand& x, const Operand& p) {
  return density(
      "geometric_logpmf",
      [](V x, V p) {
        const Variable constant = in_domain(and_(gt(p, 0), le(p, 1)), log(p));
        return within_support(is_no_count(x, 1), x, 1, [&](V x) { return constant + xlog1py(x - 1, -p); });
      },
      x, p);
}

Variable hypergeometric_logpmf(const Operand& x, const Operand& ngood, const Operand& nbad, const Operand& nsample) {
  return density(
      "hypergeometric_logpmf",
      [](V x, V good, V bad, V sample) {
        const Variable valid =
            and_(and_(is_count(good), is_count(bad)), and_(is_count(sample), le(sample, good + bad)));
        const Variable outside = or_(is_no_count(x), or_(gt(x, minimum(good, sample)), lt(x, sample - bad)));
        const Variable inner = switch_(outside, minimum(good, sample), x);
        const Variable value =
            log_binomial(good, inner) + log_binomial(bad, sample - inner) - log_binomial(good + bad, sample);
        return in_domain(valid, switch_(outside, -infinity, value));
      },
      x, ngood, nbad, nsample);
}

Variable integers_logpmf(const Operand& x, const Operand& low, const Operand& high) {
  return density(
      "integers_logpmf",
      [](V x, V low, V high) {
        const Variable outside = or_(or_(lt(x, low), ge(x, high)), gt(x - floor(x), 0));
        const Variable value = switch_(isnan(x), x, -log(high - low));
        return in_domain(lt(low, high), switch_(outside, -infinity, value));
      },
      x, low, high);
}

// ---- records -------------------------------------------------------------------------------------------------------

using P = const Variables&;

DISTRIBUTION({
    .name = "bernoulli",
    .title = "Bernoulli distribution",
    .parameters = {{"p", "Probability of 1.", {}, Allowed::probability}},
    .draw = draw_function<random::bernoulli>(),
    .composed_of = {[](DrawSource& from, P p) {
                      return from.draw("binomial", {constant(Array(std::int64_t(1))), p[0]});
                    },
                    DType::Int64},
    .log_functions = {LOG_FUNCTION(bernoulli_logpmf)},
    .pytensor_class = "BernoulliRV",
});

DISTRIBUTION({
    .name = "binomial",
    .title = "binomial distribution of the number of successes",
    .parameters = {{"n", "Number of trials."}, {"p", "Probability of a success."}},
    .draw = draw_function<random::binomial>(),
    .log_functions = {LOG_FUNCTION(binomial_logpmf)},
    .pytensor_class = "BinomialRV",
});

DISTRIBUTION({
    .name = "negative_binomial",
    .title = "negative binomial distribution of the number of failures before a number of successes",
    .parameters = {{"n", "Number of successes, positive; it need not be an integer."},
                   {"p", "Probability of a success, positive."}},
    .draw = draw_function<random::negative_binomial>(),
    .log_functions = {LOG_FUNCTION(negative_binomial_logpmf)},
    .pytensor_class = "NegBinomialRV",
});

DISTRIBUTION({
    .name = "betabinom",
    .title = "beta-binomial distribution of the number of successes",
    .parameters = {{"n", "Number of trials.", {}, Allowed::not_negative, DType::Int64},
                   {"a", "First shape of the probability's beta distribution, positive.", {}, Allowed::positive},
                   {"b", "Second shape, positive.", {}, Allowed::positive}},
    .draw = draw_function<random::betabinom>(),
    .composed_of = {[](DrawSource& from, P p) {
                      const Variable probability = from.draw("beta", {p[1], p[2]});
                      return from.draw("binomial", {p[0], probability});
                    },
                    DType::Int64},
    .log_functions = {LOG_FUNCTION(betabinom_logpmf)},
    .pytensor_class = "BetaBinomialRV",
});

DISTRIBUTION({
    .name = "poisson",
    .title = "Poisson distribution",
    .parameters = {{"lam", "Mean, not negative.", 1.0}},
    .draw = draw_function<random::poisson>(),
    .log_functions = {LOG_FUNCTION(poisson_logpmf)},
    .pytensor_class = "PoissonRV",
});

DISTRIBUTION({
    .name = "geometric",
    .title = "geometric distribution of the number of trials up to the first success",
    .parameters = {{"p", "Probability of a success, positive."}},
    .draw = draw_function<random::geometric>(),
    .log_functions = {LOG_FUNCTION(geometric_logpmf)},
    .draw_notes = "Draws are 1 or greater.",
    .pytensor_class = "GeometricRV",
});

DISTRIBUTION({
    .name = "hypergeometric",
    .title = "hypergeometric distribution of the number of successes without replacement",
    .parameters = {{"ngood", "Number of good elements."},
                   {"nbad", "Number of bad elements."},
                   {"nsample", "Number of elements drawn without replacement."}},
    .draw = draw_function<random::hypergeometric>(),
    .log_functions = {LOG_FUNCTION(hypergeometric_logpmf)},
    .pytensor_class = "HyperGeometricRV",
});

DISTRIBUTION({
    .name = "integers",
    .title = "uniform distribution of integers",
    .parameters = {{"low", "Lowest number."}, {"high", "Upper end, which is excluded."}},
    .draw = draw_function<random::integers>(),
    .log_functions = {LOG_FUNCTION(integers_logpmf)},
    .pytensor_class = "IntegersRV",
});

}  // namespace bitale::stats
