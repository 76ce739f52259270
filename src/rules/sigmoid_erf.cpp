// The logistic function, softplus and the error function: recognised where they are written out, and combined so that
// small tails keep their digits.
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

void recognise(Rules& rules) {
  auto [x] = pattern_variables<1>();
  rules.equation("softplus", log1p(exp(x)), softplus(x)).tags(stabilize, "local_log1p_plusminus_exp").wider_domain();
  rules.equation("sigmoid", 1 / (1 + exp(-x)), sigmoid(x)).tags(stabilize, "local_reciprocal_1_plus_exp");
  rules.equation("sigmoid_of_neg", 1 / (1 + exp(x)), sigmoid(-x)).tags(stabilize, "local_reciprocal_1_plus_exp");
  rules.equation("sigmoid_from_reciprocal", reciprocal(1 + exp(x)), sigmoid(-x))
      .tags(stabilize, "local_reciprocal_1_plus_exp");
  rules.equation("sigmoid_from_quotient", exp(x) / (1 + exp(x)), sigmoid(x))
      .tags(stabilize, "local_exp_over_1_plus_exp")
      .wider_domain();
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
      .either_zero();
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

void error_function(Rules& rules) {
  auto [x] = pattern_variables<1>();
  rules.equation("one_plus_erf", 1 + erf(x), erfc(-x))
      .tags(canonicalize, stabilize, specialize, "local_one_plus_erf")
      .more_accurate();
  rules.equation("one_minus_erf", 1 - erf(x), erfc(x))
      .tags(canonicalize, stabilize, specialize, "local_one_minus_erf")
      .more_accurate();
  rules.equation("erf_minus_one", erf(x) - 1, -erfc(x))
      .tags(canonicalize, stabilize, specialize, "local_erf_minus_one")
      .more_accurate()
      .either_zero();
  rules.equation("one_minus_erfc", 1 - erfc(x), erf(x))
      .tags(canonicalize, stabilize, specialize, "local_one_minus_erfc")
      .more_accurate()
      .either_zero();
  rules.equation("erfc_minus_one", erfc(x) - 1, -erf(x))
      .tags(canonicalize, stabilize, specialize, "local_erf_neg_minus_one")
      .more_accurate()
      .either_zero();
  rules.equation("two_minus_erfc", 2 - erfc(x), erfc(-x)).tags(canonicalize, stabilize).more_accurate();
}

void declare(Rules& rules) {
  recognise(rules);
  combine(rules);
  error_function(rules);
}

const RegisterRules registered("sigmoid_erf", declare);

}  // namespace

}  // namespace bitale::rewriting
