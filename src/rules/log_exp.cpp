// Exponentials and logarithms: inverse pairs, and forms that neither lose digits nor overflow.
#include <algorithm>

#include "core/limits.hpp"
#include "ops/analysis/range.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

// log(a / b), where a or b is positive. Near a = b the quotient is more accurate than the difference of logarithms.
std::optional<Variables> log_of_quotient(FunctionGraph&, const Apply& node) {
  const Variable& value = node.input(0);
  if (!is_elemwise(value, "true_div")) return std::nullopt;
  const Variable a = cast(value.owner().input(0), value.dtype()), b = cast(value.owner().input(1), value.dtype());
  if (!range_of(a).is_positive() && !range_of(b).is_positive()) return std::nullopt;
  return one(fit(log(a) - log(b), node.output()));
}

void stability(Rules& rules) {
  auto [x, y, z] = pattern_variables<3>();
  rules.equation("log1p", log(1 + x), log1p(x))
      .tags(stabilize, specialize, "local_log1p")
      .more_accurate()
      .no_signed_zeros();
  rules.equation("log1p_of_neg", log(1 - x), log1p(-x))
      .tags(stabilize, specialize, "local_log1p")
      .more_accurate()
      .no_signed_zeros();
  rules.equation("expm1", exp(x) - 1, expm1(x))
      .tags(canonicalize, stabilize, specialize, "local_expm1")
      .more_accurate()
      .no_signed_zeros();
  rules.equation("expm1_from_sum", exp(x) + (-1), expm1(x))
      .tags(canonicalize, stabilize, "local_expm1")
      .more_accurate()
      .no_signed_zeros();
  rules.equation("neg_expm1", 1 - exp(x), -expm1(x)).tags(stabilize, "local_expm1").more_accurate().no_signed_zeros();
  rules.equation("exp_from_expm1", 1 + expm1(x), exp(x)).tags(canonicalize).more_accurate();
  rules.function("log_of_quotient", Root::scalar({"log"}), log_of_quotient)
      .doc("Rewrites log(a / b) as log(a) - log(b) where a or b is positive. Opt-in, since it loses digits near a = b.")
      .tags(stabilize, specialize, opt_in, "local_log_div")
      .depth(4)
      .wider_domain()
      .sample([] { return log(2 / sample_vector()); })
      .sample([] { return log(sample_vector() / cosh(sample_vector())); });
  // For tiny positive x, exp(x) rounds to 1: the logarithm is -inf, not nan.
  rules.equation("log1mexp", log1p(-exp(x)), log1mexp(x))
      .tags(stabilize, "local_log1p_plusminus_exp")
      .more_accurate()
      .wider_domain()
      .differs_at({1e-310, 1e-300, 1e-30, 1e-12, 1e-8});
  rules.equation("log1mexp_from_expm1", log(-expm1(x)), log1mexp(x))
      .tags(stabilize, "logmexpm1_to_log1mexp")
      .no_signed_zeros()
      .more_accurate();
  // For equal operands, even both -inf, the difference is 0 and its logarithm -inf.
  rules.equation("log_diff_exp", log(exp(x) - exp(y)), x + log1mexp(switch_(eq(x, y), 0, y - x)))
      .tags(stabilize, "logdiffexp_to_log1mexpdiff")
      .differs_at({0.0, -0.0, 1e-310, 1e-200, -inf, -1e200})  // y > x, exp(x) - exp(y) rounds to 0: -inf, not nan
      .wider_domain();
  rules.equation("log_add_exp_3", log(exp(x) + exp(y) + exp(z)), logaddexp(logaddexp(x, y), z))
      .tags(stabilize, symbolic_op_recognition, "local_log_add_exp")
      .priority(1)
      .wider_domain();
  rules.equation("log_add_exp", log(exp(x) + exp(y)), logaddexp(x, y))
      .tags(stabilize, symbolic_op_recognition, "local_log_add_exp")
      .wider_domain();
}

void inverse_pairs(Rules& rules) {
  auto [x] = pattern_variables<1>();
  rules.equation("log_of_exp", log(exp(x)), x)
      .tags(canonicalize, stabilize, specialize, "local_exp_log")
      .wider_domain()
      .no_signed_zeros();
  rules.equation("log1p_of_expm1", log1p(expm1(x)), x)
      .tags(canonicalize, stabilize, specialize, "local_exp_log")
      .wider_domain();
  rules.equation("log2_of_exp2", log2(exp2(x)), x).tags(canonicalize).wider_domain().no_signed_zeros();
  rules.equation("exp_of_log", exp(log(x)), switch_(ge(x, 0), x, nan))
      .tags(specialize, "local_exp_log_nan_switch")
      .no_signed_zeros();
  rules.equation("expm1_of_log1p", expm1(log1p(x)), switch_(ge(x, -1), x, nan))
      .tags(specialize, "local_exp_log_nan_switch");
  rules.equation("exp_of_log1p", exp(log1p(x)), switch_(ge(x, -1), 1 + x, nan))
      .tags(specialize, "local_exp_log_nan_switch");
  rules.equation("expm1_of_log", expm1(log(x)), switch_(ge(x, 0), x - 1, nan))
      .tags(specialize, "local_exp_log_nan_switch");
  rules.equation("exp_of_log1mexp", exp(log1mexp(x)), switch_(le(x, 0), -expm1(x), nan))
      .no_signed_zeros()
      .tags(specialize, "local_exp_log_nan_switch");
  rules.equation("cosh_of_arccosh", cosh(arccosh(x)), switch_(ge(x, 1), x, nan))
      .tags(canonicalize, specialize, "inverse_pair", "useless_Cosh_of_Arccosh");
  rules.equation("arccosh_of_cosh", arccosh(cosh(x)), abs(x))
      .tags(canonicalize, specialize, "inverse_pair", "useless_Arccosh_of_Cosh")
      .wider_domain();
  rules.equation("arcsinh_of_sinh", arcsinh(sinh(x)), x)
      .tags(canonicalize, specialize, "inverse_pair", "useless_Arcsinh_of_Sinh")
      .wider_domain();
  rules.equation("sinh_of_arcsinh", sinh(arcsinh(x)), x)
      .tags(canonicalize, specialize, "inverse_pair", "useless_Sinh_of_Arcsinh");
  rules.equation("arctanh_of_tanh", arctanh(tanh(x)), x)
      .tags(canonicalize, specialize, "inverse_pair", "useless_Arctanh_of_Tanh")
      .wider_domain();
  rules.equation("tanh_of_arctanh", tanh(arctanh(x)), x)
      .tags(canonicalize, specialize, "inverse_pair", "useless_Tanh_of_Arctanh")
      .wider_domain();
}

void powers_and_products(Rules& rules) {
  auto [x, y] = pattern_variables<2>();
  rules.equation("log_of_sqrt", log(sqrt(x)), 0.5 * log(x)).tags(specialize, "local_log_sqrt");
  rules.equation("log_of_sqr", log(sqr(x)), 2 * log(abs(x))).tags(specialize).wider_domain();
  rules.equation("log_of_reciprocal", log(reciprocal(x)), -log(x))
      .tags(canonicalize, stabilize, specialize, "local_log_div")
      .wider_domain()
      .no_signed_zeros()
      .differs_at({-inf});  // log(-0.0) is -inf
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
  rules.equation("over_exp", x / exp(y), x * exp(-y))
      .tags(specialize, "local_div_exp_to_mul_exp")
      .priority(-1)
      .once_used(exp(y))
      .wider_domain()
      .points({{inf, 729.0}, {inf, 744.0}});  // exp(y) overflows where exp(-y) is still above zero
  rules.equation("reciprocal_of_exp", reciprocal(exp(x)), exp(-x)).tags(canonicalize);
}

void declare_log_exp(Rules& rules) {
  stability(rules);
  inverse_pairs(rules);
  powers_and_products(rules);
}

const RegisterRules register_log_exp("log_exp", declare_log_exp);

}  // namespace

}  // namespace bitale::rewriting
