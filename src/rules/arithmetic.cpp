// Rules on signs, neutral right operands, cancellation, and constants in sums and products. The normal form: a minus
// sign is as far outside as possible, and of several constants in a sum or product one remains.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/limits.hpp"
#include "ops/analysis/range.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

void signs(Rules& rules) {
  auto [x, y] = pattern_variables<2>();
  rules.equation("neg_times_neg", (-x) * (-y), x * y)
      .on(numbers)
      .tags(canonicalize, stabilize, structural, specialize)
      .priority(1);
  rules.equation("neg_times", (-x) * y, -(x * y)).on(numbers).tags(canonicalize, stabilize, structural, specialize);
  rules.equation("neg_over_neg", (-x) / (-y), x / y)
      .tags(canonicalize, stabilize, structural, specialize, "local_neg_div_neg")
      .priority(1);
  rules.equation("neg_over", (-x) / y, -(x / y)).tags(canonicalize, stabilize, structural, specialize);
  rules.equation("over_neg", x / (-y), -(x / y)).tags(canonicalize, stabilize, structural, specialize);
  rules.equation("minus_one_times", -1 * x, -x)
      .on(signed_ints | floats)
      .tags(canonicalize, stabilize, structural, specialize, "local_mul_specialize");
  rules.equation("over_minus_one", x / -1, -x).tags(canonicalize, stabilize, structural, specialize);
  rules.equation("neg_of_difference", -(x - y), y - x)
      .on(numbers)
      .tags(canonicalize, stabilize, structural, specialize)
      .no_signed_zeros();
  rules.equation("plus_neg", x + (-y), x - y)
      .on(numbers)
      .tags(canonicalize, stabilize, structural, specialize, "local_add_neg_to_sub");
  rules.equation("minus_neg", x - (-y), x + y)
      .on(numbers)
      .tags(canonicalize, stabilize, structural, specialize, "local_sub_neg_to_add");
  rules.equation("zero_minus", 0 - x, -x)
      .on(numbers)
      .tags(canonicalize, stabilize, structural, specialize)
      .no_signed_zeros();
}

void neutral_on_the_right(Rules& rules) {
  auto [x] = pattern_variables<1>();
  rules.equation("minus_zero", x - 0, x).on(numbers).tags(useless, canonicalize, "local_elemwise_sub_zeros");
  rules.equation("over_one", x / 1, x).tags(useless, canonicalize, "local_div_by_one");
  rules.equation("zero_int_div", int_div(0, x), Operand(0).variable).on(integers).tags(canonicalize, "local_zero_div");
  rules.equation("int_div_by_one", int_div(x, 1), x).on(integers).tags(useless, canonicalize);
}

// Cancellation applies only if the result still depends on the inputs: x - x and x / x keep their nan.
void cancelling(Rules& rules) {
  auto [x, y, z] = pattern_variables<3>();
  auto cancel = [&](std::string name, const Variable& left, const Variable& right) -> Rule& {
    const Variables kept = graph_inputs(std::span(&right, 1));
    auto leaves_something = [=](const Match& m) {
      return std::any_of(kept.begin(), kept.end(), [&](const Variable& leaf) { return depends_on_inputs(m(leaf)); });
    };
    return rules.equation(std::move(name), left, right)
        .when(leaves_something)
        .tags(canonicalize, "cancelling")
        .wider_domain();
  };
  cancel("product_over_factor", (x * y) / y, x);
  cancel("product_over_product", (x * y) / (z * y), x / z);
  cancel("factor_over_product", y / (x * y), reciprocal(x));
  cancel("quotient_times_divisor", (x / y) * y, x);
  cancel("quotient_over_quotient", (x / y) / (z / y), x / z);
  cancel("quotient_over_dividend", (x / y) / x, reciprocal(y));
  cancel("reciprocal_times", reciprocal(x) * (x * y), y);
  cancel("sum_minus_term", (x + y) - y, x).no_signed_zeros();
  cancel("difference_plus_term", (x - y) + y, x).no_signed_zeros();
  cancel("sum_minus_sum", (x + y) - (z + y), x - z).no_signed_zeros();
  cancel("difference_minus_difference", (x - y) - (z - y), x - z).no_signed_zeros();
  cancel("term_minus_sum", x - (x + y), -y).no_signed_zeros();
  cancel("term_minus_difference", x - (x - y), y).no_signed_zeros();
  cancel("difference_minus_first", (x - y) - x, -y).no_signed_zeros();
  // Integers have no nan and wrap around, so no value is lost.
  rules.equation("integer_minus_itself", x - x, Operand(0).variable)
      .on(integers)
      .tags(canonicalize, "local_elemwise_sub_zeros");
  const auto compare = [&](std::string name, const Variable& left, int right, std::uint32_t dtypes) {
    rules.equation(std::move(name), left, Operand(right).variable)
        .on(dtypes)
        .tags(canonicalize, "local_useless_elemwise_comparison", "local_useless_elemwise");
  };
  compare("integer_equals_itself", eq(x, x), 1, integers);
  compare("integer_differs_from_itself", neq(x, x), 0, integers);
  compare("integer_at_least_itself", ge(x, x), 1, integers);
  compare("integer_at_most_itself", le(x, x), 1, integers);
  compare("less_than_itself", lt(x, x), 0, numbers);  // also for nan
  compare("greater_than_itself", gt(x, x), 0, numbers);
  const Variable bits = pattern_variable("x", DType::Int64);
  rules.equation("xor_with_itself", xor_(bits, bits), Operand(0).variable).on(integers | bools).tags(canonicalize);
}

// Where a switch yields 0, the other factor or the divisor does not matter, even if it is nan there.
std::optional<Variables> sink_into_mask(FunctionGraph& graph, const Apply& node) {
  const Variable output = node.output();
  const bool is_product = is_elemwise(output, "mul");
  for (int i = 0; i < (is_product ? 2 : 1); ++i) {
    const Variable &mask = node.input(i), &other = node.input(1 - i);
    if (!is_elemwise(mask, "switch") || graph.clients(mask).size() != 1) continue;
    if (!is_float(output.dtype()) || mask.dtype() != output.dtype() || other.dtype() != output.dtype()) continue;
    const Apply choice = mask.owner();
    for (int zero = 1; zero <= 2; ++zero) {
      const Variable& kept = choice.input(3 - zero);
      if (scalar_constant(choice.input(zero)) != 0.0 || kept.dtype() != output.dtype()) continue;
      const Variable inside = is_product ? kept * other : kept / other;
      return one(fit(zero == 1 ? switch_(choice.input(0), 0, inside) : switch_(choice.input(0), inside, 0), output));
    }
  }
  return std::nullopt;
}

void masks(Rules& rules) {
  rules.function("sink_into_mask", Root::scalar({"mul", "true_div"}), sink_into_mask)
      .with_input(Root::scalar({"switch"}))
      .doc(
          "Rewrites x * switch(c, y, 0) as switch(c, x * y, 0), likewise switch(c, y, 0) / x, and with swapped "
          "branches.")
      .tags(canonicalize, stabilize, structural, specialize, "local_mul_switch_sink", "local_div_switch_sink")
      .wider_domain()
      .no_signed_zeros()
      .sample([] { return exp(sample_vector()) * switch_(gt(sample_vector(), 0), 0, sample_vector()); })
      .sample([] { return switch_(gt(sample_vector(), 0), sample_vector(), 0) * sample_vector(); })
      .sample([] { return switch_(gt(sample_vector(), 0), sample_vector(), 0.0) / sample_vector(); });
}

// These replace expressions that are nan for some inputs by constants, so they apply only on request.
void nan_losing(Rules& rules) {
  auto [x] = pattern_variables<1>();
  auto lose = [&](std::string name, const Variable& left, double right) -> Rule& {
    return rules.equation(std::move(name), left, Operand(right).variable).wider_domain().tags(canonicalize, unsafe_nan);
  };
  lose("minus_itself", x - x, 0).tags("local_elemwise_sub_zeros");
  lose("over_itself", x / x, 1).tags("local_mul_canonizer");
  lose("times_zero", x * 0, 0).tags("local_mul_zero").no_signed_zeros();
  lose("zero_over", 0 / x, 0).tags("local_zero_div").no_signed_zeros();
  auto decide = [&](std::string name, const Variable& left, bool right) {
    rules.equation(std::move(name), left, Operand(right).variable)
        .differs_at({std::numeric_limits<double>::quiet_NaN()})
        .tags(canonicalize, unsafe_nan, "local_useless_elemwise_comparison", "local_useless_elemwise");
  };
  decide("equals_itself", eq(x, x), true);
  decide("differs_from_itself", neq(x, x), false);
  decide("at_least_itself", ge(x, x), true);
  decide("at_most_itself", le(x, x), true);
}

// A constant that neither overflows nor underflows.
bool is_ordinary(double value) { return std::isfinite(value) && (value == 0 || std::isnormal(float(value))); }

void constants_of_sums(Rules& rules) {
  auto [x] = pattern_variables<1>();
  const Variable c = pattern_constant("c"), d = pattern_constant("d");
  // Two constants are combined only if their sum is exact: a rounding error would be visible next to an x that nearly
  // cancels the sum.
  const auto exact = [=](const Match& m, double sign) {
    return is_exact_sum(m.value(c), sign * m.value(d), m.node().output().dtype());
  };
  const Condition sum = [=](const Match&m) { return exact(m, 1); },
                  difference = [=](const Match&m) { return exact(m, -1); };
  auto collect = [&](std::string name, const Variable& left, const Variable& right, const Condition& when) {
    rules.equation(std::move(name), left, right).on(numbers).when(when).tags(canonicalize, "local_add_canonizer");
  };
  collect("c_plus_sum", c + (d + x), (c + d) + x, sum);
  collect("c_plus_difference", c + (d - x), (c + d) - x, sum);
  collect("c_plus_less", c + (x - d), x + (c - d), difference);
  collect("c_minus_sum", c - (d + x), (c - d) - x, difference);
  collect("c_minus_difference", c - (d - x), (c - d) + x, difference);
  collect("c_minus_less", c - (x - d), (c + d) - x, sum);
  collect("sum_minus_c", (c + x) - d, (c - d) + x, difference);
  collect("difference_minus_c", (c - x) - d, (c - d) - x, difference);
  collect("less_minus_c", (x - c) - d, x - (c + d), sum);

  rules.equation("twice", x + x, 2 * x).on(numbers).tags(canonicalize, "local_add_canonizer");
  rules.equation("c_times_plus_itself", c * x + x, (c + 1) * x)
      .tags(canonicalize, "local_add_canonizer")
      .wider_domain()
      .no_signed_zeros();
  rules.equation("c_times_minus_itself", c * x - x, (c - 1) * x)
      .tags(canonicalize, "local_add_canonizer")
      .wider_domain()
      .no_signed_zeros();
  rules.equation("itself_minus_c_times", x - c * x, (1 - c) * x)
      .tags(canonicalize, "local_add_canonizer")
      .wider_domain()
      .no_signed_zeros();
  const auto finite = [=](const Match& m) { return std::isfinite(m.value(c)) && std::isfinite(m.value(d)); };
  const auto collect_factors = [&](std::string name, const Variable& left, const Variable& right) {
    rules.equation(std::move(name), left, right)
        .when(finite)
        .tags(canonicalize, "local_add_canonizer")
        .wider_domain()
        .no_signed_zeros();
  };
  collect_factors("c_times_plus_d_times", c * x + d * x, (c + d) * x);
  collect_factors("c_times_minus_d_times", c * x - d * x, (c - d) * x);
}

void constants_of_products(Rules& rules) {
  auto [x] = pattern_variables<1>();
  const Variable c = pattern_constant("c"), d = pattern_constant("d");
  // Folding must not introduce an overflow or underflow that the original expression did not have.
  auto product = [=](const Match& m) { return is_ordinary(m.value(c) * m.value(d)) && m.value(c) * m.value(d) != 0; };
  auto quotient = [=](const Match& m) { return is_ordinary(m.value(c) / m.value(d)) && m.value(c) != 0; };
  auto inverse = [=](const Match& m) { return is_ordinary(m.value(d) / m.value(c)) && m.value(d) != 0; };
  // c divided by an underflowed value is infinite. After folding it still is, unless c is as small as the product of
  // the largest and the smallest number.
  auto not_tiny = [=](const Condition& when) {
    constexpr double small = 1e-6;  // in float32, too
    return [=](const Match& m) { return when(m) && std::abs(m.value(c)) >= small; };
  };
  auto collect = [&](std::string name, const Variable& left, const Variable& right, Condition when) -> Rule& {
    return rules.equation(std::move(name), left, right)
        .when(std::move(when))
        .constants({2, 3, -1.5, 1e-3, 1e3})
        .tags(canonicalize, "local_mul_canonizer");
  };
  collect("c_times_product", c * (d * x), (c * d) * x, product).on(numbers).wider_domain();
  collect("product_over_c", (c * x) / d, (c / d) * x, quotient).wider_domain();
  collect("c_over_product", c / (d * x), (c / d) / x, not_tiny(quotient));
  collect("quotient_times_c", (x / c) * d, (d / c) * x, inverse).wider_domain();
  collect("inverse_times_c", (c / x) * d, (c * d) / x, product).wider_domain();
  collect("quotient_over_c", (x / c) / d, x / (c * d), product).wider_domain();
  collect("c_over_quotient", c / (x / d), (c * d) / x, not_tiny(product));
  collect("c_over_inverse", c / (d / x), (c / d) * x, not_tiny(quotient));
  auto ordinary = [=](const Match& m) { return is_ordinary(m.value(c)) && m.value(c) != 0; };
  collect("neg_of_c_times", -(c * x), (-c) * x, ordinary).tags(specialize);
  collect("neg_of_c_over", -(c / x), (-c) / x, ordinary).tags(specialize);
  collect("neg_of_over_c", -(x / c), x / (-c), ordinary);
}

void absolute_values(Rules& rules) {
  auto [x, y] = pattern_variables<2>();
  rules.equation("sign_times_abs", sign(x) * abs(x), x).on(signed_ints | floats).tags(canonicalize).no_signed_zeros();
  rules.equation("times_sign", x * sign(x), abs(x)).on(signed_ints | floats).tags(canonicalize).no_signed_zeros();
  rules.equation("abs_times_abs", abs(x) * abs(y), abs(x * y)).tags(specialize, "local_abs_merge");
  rules.equation("abs_over_abs", abs(x) / abs(y), abs(x / y)).tags(specialize, "local_abs_merge");
  const std::pair<std::string, Variable> positives[] = {
      {"sqr", sqr(x)}, {"exp", exp(x)}, {"sigmoid", sigmoid(x)}, {"softplus", softplus(x)}, {"cosh", cosh(x)}};
  for (auto& [name, positive] : positives) rules.equation("abs_of_" + name, abs(positive), positive).tags(canonicalize);
  // Moved to the operands, abs may cancel against operands of known sign; later several abs are merged into one.
  rules.equation("abs_of_product", abs(x * y), abs(x) * abs(y)).tags(canonicalize, "local_abs_lift");
  rules.equation("abs_of_quotient", abs(x / y), abs(x) / abs(y)).tags(canonicalize, "local_abs_lift");
  rules.equation("abs_of_sqrt", abs(sqrt(x)), sqrt(x)).tags(canonicalize).no_signed_zeros();  // sqrt(-0.0) is -0.0
}

// ---- signs of quotients ---------------------------------------------------------------------------------------------

// sign(x / c) is sign(x) for positive c and -sign(x) for negative c. This fails for |c| > 1, where x / c underflows to
// 0 for tiny x.
std::optional<Variables> sign_of_quotient(FunctionGraph&, const Apply& node) {
  const Variable output = node.output(), &value = node.input(0);
  if (!is_float(output.dtype()) || !is_elemwise(value, "true_div")) return std::nullopt;
  const std::optional<double> c = scalar_constant(value.owner().input(1));
  if (!c || !(std::abs(*c) <= 1) || *c == 0) return std::nullopt;
  const Variable x = cast(value.owner().input(0), output.dtype());  // an unsigned dtype has no -1
  return one(fit(*c > 0 ? sign(x) : -sign(x), output));
}

void signs_of_quotients(Rules& rules) {
  rules.function("sign_of_quotient", Root::scalar({"sign"}), sign_of_quotient)
      .doc("Rewrites sign(x / c) for a constant c with abs(c) <= 1 as sign(x), or as -sign(x) if c is negative.")
      .tags(canonicalize, stabilize, structural, specialize, "local_sign_div")
      .no_signed_zeros()
      .sample([] { return sign(sample_vector() / 0.3); })
      .sample([] { return sign(sample_vector() / -0.5); });
}

// ---- divisors of rows ----

// Rows over one row of divisors, x / d of shapes (n, b) and (1, b): with reciprocals of d, one division per column.
std::optional<Variables> reciprocal_of_row(FunctionGraph&, const Apply& node) {
  const Variable &x = node.input(0), &d = node.input(1), &out = node.output();
  if (!is_float(out.dtype()) || d.dtype() != out.dtype() || out.ndim() < 2) return std::nullopt;
  const bool is_row = !d.tensor().broadcasts(out.ndim() - 1) && d.tensor().broadcasts(0) && !out.tensor().broadcasts(0);
  if (!is_row || is_elemwise(d, "reciprocal")) return std::nullopt;
  return one(fit(cast(x, out.dtype()) * reciprocal(d), out));
}

void divisors(Rules& rules) {
  rules.function("reciprocal_of_row", Root::scalar({"true_div"}), reciprocal_of_row)
      .doc(
          "Divides the rows of a matrix by a row of divisors as products with their reciprocals. Opt-in, since the "
          "last "
          "bits differ; `times_reciprocal` has to be excluded.")
      .tags(specialize, opt_in)
      .differs_at({1e-310})  // whose reciprocal is infinite
      .sample([] {
        return sample_leaf(DType::Float64, {3, 4}) / sample_leaf(DType::Float64, {1, 4});
      });
}

// ---- products of sums -----------------------------------------------------------------------------------------------

// Distributing a product over a sum pays off when a factor cancels: (x / y + z) * y is x + z * y. A term may then
// overflow where nothing did before, so these rules apply only on request.
void distributing(Rules& rules) {
  auto [x, y, z] = pattern_variables<3>();
  auto distribute = [&](std::string name, const Variable& left, const Variable& right, const Variable& sum,
                        const Variable& part) -> Rule& {
    return rules.equation(std::move(name), left, right)
        .once_used(sum)
        .once_used(part)
        .wider_domain()
        .no_signed_zeros()
        .differs_at({inf, -inf, 1.5e308, 1e200, -1e200, 3})
        .tags(canonicalize, stabilize, structural, opt_in, "local_greedy_distributor");
  };
  const Variable quotient = x / y, product = x * y;
  distribute("sum_with_quotient_times_divisor", (quotient + z) * y, x + z * y, quotient + z, quotient)
      .points({{inf, 1e200, -1e200}});
  distribute("quotient_minus_term_times_divisor", (quotient - z) * y, x - z * y, quotient - z, quotient);
  distribute("term_minus_quotient_times_divisor", (z - quotient) * y, z * y - x, z - quotient, quotient);
  distribute("sum_with_product_over_factor", (product + z) / y, x + z / y, product + z, product)
      .points({{inf, 1e-200, -1e200}});
  distribute("product_minus_term_over_factor", (product - z) / y, x - z / y, product - z, product);
  distribute("term_minus_product_over_factor", (z - product) / y, z / y - x, z - product, product);
}

void declare_arithmetic(Rules& rules) {
  signs_of_quotients(rules);
  divisors(rules);
  distributing(rules);
  signs(rules);
  neutral_on_the_right(rules);
  cancelling(rules);
  masks(rules);
  nan_losing(rules);
  constants_of_sums(rules);
  constants_of_products(rules);
  absolute_values(rules);
}

const RegisterRules register_arithmetic("arithmetic", declare_arithmetic);

}  // namespace

}  // namespace bitale::rewriting
