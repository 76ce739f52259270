// The logistic function, softplus and the error function: recognized where they are written out, and combined so that
// small tails keep their accuracy.
#include <limits>

#include "bitale/ops/special.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void recognise(Rules& rules) {
  auto [x, y] = pattern_variables<2>();
  rules.equation("softplus", log1p(exp(x)), softplus(x)).tags(stabilize, "local_log1p_plusminus_exp").wider_domain();
  rules.equation("sigmoid", 1 / (1 + exp(-x)), sigmoid(x)).tags(stabilize, "local_reciprocal_1_plus_exp");
  rules.equation("sigmoid_of_neg", 1 / (1 + exp(x)), sigmoid(-x)).tags(stabilize, "local_reciprocal_1_plus_exp");
  rules.equation("sigmoid_from_reciprocal", reciprocal(1 + exp(x)), sigmoid(-x))
      .tags(stabilize, "local_reciprocal_1_plus_exp");
  rules.equation("sigmoid_from_quotient", exp(x) / (1 + exp(x)), sigmoid(x))
      .tags(stabilize, "local_exp_over_1_plus_exp")
      .wider_domain();
  rules.equation("softmax_of_two", exp(x) / (exp(x) + exp(y)), sigmoid(x - y)).tags(stabilize).wider_domain();
  // This saves one exponential, and none overflows.
  rules.equation("over_one_plus_exp", y / (1 + exp(x)), y * sigmoid(-x))
      .tags(stabilize)
      .priority(-1)
      .wider_domain()
      .points({{infinity, 729.0}, {infinity, 744.0}});  // exp(x) overflows where sigmoid(-x) is still above zero
  rules.equation("tanh", (exp(x) - exp(-x)) / (exp(x) + exp(-x)), tanh(x))
      .tags(stabilize)
      .wider_domain()
      .no_signed_zeros();
  rules.equation("tanh_from_expm1", expm1(x) / (1 + exp(x)), tanh(0.5 * x)).tags(stabilize).wider_domain();
  rules.equation("tanh_from_neg_expm1", (-expm1(x)) / (1 + exp(x)), -tanh(0.5 * x)).tags(stabilize).wider_domain();
  rules.equation("tanh_from_sigmoid", 2 * sigmoid(x) - 1, tanh(0.5 * x))
      .tags(stabilize)
      .more_accurate()
      .no_signed_zeros();
  rules.equation("tanh_from_sigmoid_sum", 2 * sigmoid(x) + (-1), tanh(0.5 * x))
      .tags(stabilize)
      .more_accurate()
      .no_signed_zeros();
  rules.equation("neg_tanh_from_sigmoid", 1 - 2 * sigmoid(x), tanh(-0.5 * x))
      .tags(stabilize)
      .more_accurate()
      .no_signed_zeros();
  rules.equation("exp_times_sigmoid", exp(x) * sigmoid(-x), sigmoid(x))
      .tags(stabilize, "local_sigm_times_exp")
      .wider_domain();
  rules.equation("exp_of_neg_times_sigmoid", exp(-x) * sigmoid(x), sigmoid(-x))
      .tags(stabilize, "local_sigm_times_exp")
      .wider_domain();
}

void combine(Rules& rules) {
  auto [x] = pattern_variables<1>();
  rules.equation("one_minus_sigmoid", 1 - sigmoid(x), sigmoid(-x))
      .tags(stabilize, specialize, "local_1msigmoid")
      .more_accurate();
  rules.equation("log_of_sigmoid", log(sigmoid(x)), -softplus(-x))
      .tags(stabilize, "logsigm_to_softplus")
      .more_accurate()
      .wider_domain()
      .no_signed_zeros();
  rules.equation("log1p_of_neg_sigmoid", log1p(-sigmoid(x)), -softplus(x))
      .tags(stabilize, specialize, "log1p_neg_sigmoid", "log1msigm_to_softplus")
      .more_accurate()
      .wider_domain();
  rules.equation("odds_of_sigmoid", sigmoid(x) / sigmoid(-x), exp(x)).tags(stabilize, specialize, "local_odds_sigmoid");
  rules.equation("inverse_odds_of_sigmoid", sigmoid(-x) / sigmoid(x), exp(-x))
      .tags(stabilize, specialize, "local_inv_odds_sigmoid");
  rules.equation("exp_of_softplus", exp(softplus(x)), 1 + exp(x)).tags(canonicalize, specialize, "local_exp_log");
  rules.equation("exp_of_neg_softplus", exp(-softplus(x)), sigmoid(-x)).tags(canonicalize, specialize);
  rules.equation("expm1_of_softplus", expm1(softplus(x)), exp(x)).tags(canonicalize, specialize, "local_exp_log");
}

void inverses(Rules& rules) {
  auto [x] = pattern_variables<1>();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  rules.equation("sigmoid_of_logit", sigmoid(log(x / (1 - x))), switch_(and_(ge(x, 0), le(x, 1)), x, nan))
      .tags(canonicalize, specialize, "local_sigmoid_logit")
      .no_signed_zeros();
  rules.equation("sigmoid_of_logit_itself", sigmoid(logit(x)), switch_(and_(ge(x, 0), le(x, 1)), x, nan))
      .tags(canonicalize, specialize, "local_sigmoid_logit")
      .no_signed_zeros();
  rules.equation("logit_of_sigmoid", logit(sigmoid(x)), x)
      .tags(canonicalize, stabilize, specialize)
      .more_accurate()
      .no_signed_zeros()
      .wider_domain();
  rules.equation("polygamma_0", polygamma(0, x), psi(x)).tags(specialize, "local_polygamma_to_digamma");
  rules.equation("polygamma_1", polygamma(1, x), tri_gamma(x)).tags(specialize, "local_polygamma_to_tri_gamma");
}

void error_function(Rules& rules) {
  auto [x, y] = pattern_variables<2>();
  // For small x, 1 - erf(x) is accurate to the last digit; for large x the fast decay is -x * x. Neither branch is
  // given an argument at which it or its derivative overflows.
  const Variable is_low = lt(x, 0.5), low = switch_(is_low, x, 0), high = switch_(is_low, 0.5, x);
  rules.equation("log_of_erfc", log(erfc(x)), switch_(is_low, log1p(-erf(low)), log(erfcx(high)) - sqr(high)))
      .tags(stabilize, specialize, "local_log_erfc")
      .more_accurate()
      .wider_domain()
      .no_signed_zeros();
  auto decay = [&](std::string name, const Variable& left, const Variable& right) {
    rules.equation(std::move(name), left, right).tags(stabilize, specialize, "local_grad_log_erfc_neg").wider_domain();
  };
  // Where erfc(x) rounds to 2, erfcx(x) soon overflows, and its derivative is infinite.
  const Variable is_two = lt(x, -6), bell = exp(-sqr(switch_(is_two, x, 0)));
  const Variable divisor = erfcx(switch_(is_two, 0, x));
  decay("bell_over_erfc", exp(-sqr(x)) / erfc(x), switch_(is_two, 0.5 * bell, reciprocal(divisor)));
  decay("scaled_bell_over_erfc", (y * exp(-sqr(x))) / erfc(x), switch_(is_two, 0.5 * y * bell, y / divisor));
  decay("over_erfc_times_bell", (y / erfc(x)) * exp(-sqr(x)), switch_(is_two, 0.5 * y * bell, y / divisor));
  rules.equation("one_plus_erf", 1 + erf(x), erfc(-x))
      .tags(canonicalize, stabilize, specialize, "local_one_plus_erf")
      .more_accurate();
  rules.equation("one_minus_erf", 1 - erf(x), erfc(x))
      .tags(canonicalize, stabilize, specialize, "local_one_minus_erf")
      .more_accurate();
  rules.equation("erf_minus_one", erf(x) - 1, -erfc(x))
      .tags(canonicalize, stabilize, specialize, "local_erf_minus_one")
      .more_accurate()
      .no_signed_zeros();
  rules.equation("one_minus_erfc", 1 - erfc(x), erf(x))
      .tags(canonicalize, stabilize, specialize, "local_one_minus_erfc")
      .more_accurate()
      .no_signed_zeros();
  rules.equation("erfc_minus_one", erfc(x) - 1, -erf(x))
      .tags(canonicalize, stabilize, specialize, "local_erf_neg_minus_one")
      .more_accurate()
      .no_signed_zeros();
  rules.equation("two_minus_erfc", 2 - erfc(x), erfc(-x)).tags(canonicalize, stabilize).more_accurate();
}

void declare_sigmoid_erf(Rules& rules) {
  recognise(rules);
  combine(rules);
  inverses(rules);
  error_function(rules);
}

const RegisterRules register_sigmoid_erf("sigmoid_erf", declare_sigmoid_erf);

}  // namespace

}  // namespace bitale::rewriting
