// Exponentials and logarithms: inverse pairs, and forms that lose no digits and do not overflow.
#include <limits>

#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

void stability(Rules& rules) {
  auto [x, y] = pattern_variables<2>();
  rules.equation("log1p", log(1 + x), log1p(x)).tags(stabilize, specialize, "local_log1p").more_accurate();
  rules.equation("log1p_of_neg", log(1 - x), log1p(-x)).tags(stabilize, specialize, "local_log1p").more_accurate();
  rules.equation("expm1", exp(x) - 1, expm1(x)).tags(canonicalize, stabilize, specialize, "local_expm1").more_accurate();
  rules.equation("expm1_from_sum", exp(x) + (-1), expm1(x)).tags(canonicalize, stabilize, "local_expm1").more_accurate();
  rules.equation("neg_expm1", 1 - exp(x), -expm1(x)).tags(stabilize, "local_expm1").more_accurate().either_zero();
  rules.equation("exp_from_expm1", 1 + expm1(x), exp(x)).tags(canonicalize).more_accurate();
  rules.equation("log_of_exp_quotient", log(exp(x) / y), x - log(y)).tags(stabilize).wider_domain();
  rules.equation("log_of_exp_product", log(exp(x) * y), x + log(y)).tags(stabilize).wider_domain();
  rules.equation("log_add_exp", log(exp(x) + exp(y)), logaddexp(x, y))
      .tags(stabilize, symbolic_op_recognition, "local_log_add_exp")
      .wider_domain();
}

void inverse_pairs(Rules& rules) {
  auto [x] = pattern_variables<1>();
  rules.equation("log_of_exp", log(exp(x)), x).tags(canonicalize, specialize, "local_exp_log").wider_domain();
  rules.equation("log1p_of_expm1", log1p(expm1(x)), x).tags(canonicalize, specialize, "local_exp_log").wider_domain();
  rules.equation("log2_of_exp2", log2(exp2(x)), x).tags(canonicalize).wider_domain();
  rules.equation("exp_of_log", exp(log(x)), switch_(ge(x, 0), x, nan))
      .tags(specialize, "local_exp_log_nan_switch")
      .either_zero();
  rules.equation("expm1_of_log1p", expm1(log1p(x)), switch_(ge(x, -1), x, nan)).tags(specialize, "local_exp_log_nan_switch");
  rules.equation("exp_of_log1p", exp(log1p(x)), switch_(ge(x, -1), 1 + x, nan)).tags(specialize, "local_exp_log_nan_switch");
  rules.equation("arcsinh_of_sinh", arcsinh(sinh(x)), x).tags(canonicalize, specialize, "inverse_pair").wider_domain();
  rules.equation("sinh_of_arcsinh", sinh(arcsinh(x)), x).tags(canonicalize, specialize, "inverse_pair");
  rules.equation("arctanh_of_tanh", arctanh(tanh(x)), x).tags(canonicalize, specialize, "inverse_pair").wider_domain();
  rules.equation("tanh_of_arctanh", tanh(arctanh(x)), x).tags(canonicalize, specialize, "inverse_pair").wider_domain();
}

void powers_and_products(Rules& rules) {
  auto [x, y] = pattern_variables<2>();
  rules.equation("log_of_sqrt", log(sqrt(x)), 0.5 * log(x)).tags(specialize, "local_log_sqrt");
  rules.equation("log_of_sqr", log(sqr(x)), 2 * log(abs(x))).tags(specialize).wider_domain();
  rules.equation("log_of_reciprocal", log(reciprocal(x)), -log(x))
      .tags(canonicalize, stabilize, specialize, "local_log_div")
      .wider_domain()
      .either_zero();
  rules.equation("exp_times_exp", exp(x) * exp(y), exp(x + y))
      .tags(specialize, "local_mul_exp_to_exp_add")
      .once_used(exp(x))
      .once_used(exp(y))
      .wider_domain();
  rules.equation("exp_over_exp", exp(x) / exp(y), exp(x - y))
      .tags(specialize, "local_div_exp_to_mul_exp")
      .once_used(exp(x))
      .once_used(exp(y))
      .wider_domain();
  rules.equation("reciprocal_of_exp", reciprocal(exp(x)), exp(-x)).tags(canonicalize).wider_domain();
}

void declare(Rules& rules) {
  stability(rules);
  inverse_pairs(rules);
  powers_and_products(rules);
}

const RegisterRules registered("log_exp", declare);

}  // namespace

}  // namespace bitale::rewriting
