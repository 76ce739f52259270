// Powers with constant exponents become products, squares and roots.
#include <algorithm>
#include <cmath>

#include "bitale/core/text.hpp"
#include "core/limits.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

constexpr int largest_exponent = 16;

// x ** n by repeated squaring; equal parts merge.
Variable chain(const Variable& x, int n) {
  if (n == 1) return x;
  if (n % 2 == 0) return sqr(chain(x, n / 2));
  return chain(x, n - 1) * x;
}

void declare_powers(Rules& rules) {
  auto [x, y, z] = pattern_variables<3>();
  rules.equation("pow_0", pow(x, 0), Operand(1).variable).on(numbers).tags(canonicalize, "local_pow_canonicalize");
  rules.equation("pow_1", pow(x, 1), x).on(numbers).tags(useless, canonicalize, "local_pow_canonicalize");
  rules.equation("pow_of_1", pow(1, x), Operand(1).variable).tags(canonicalize, "local_pow_canonicalize");

  for (int n = 2; n <= largest_exponent; ++n)
    rules.equation(cat("pow_", n), pow(x, n), chain(x, n))
        .on(numbers)
        .tags(specialize, "local_pow_specialize", "local_pow_to_nested_squaring");
  for (int n = 1; n <= largest_exponent; ++n)
    rules.equation(cat("pow_minus_", n), pow(x, -n), reciprocal(chain(x, n)))
        .tags(specialize, "local_pow_specialize", "local_pow_to_nested_squaring");
  // pow(-inf, 0.5) is inf, and pow(-0.0, -0.5) is inf, where roots give nan and -inf.
  rules.equation("pow_half", pow(x, 0.5), sqrt(x))
      .tags(specialize, "local_pow_specialize")
      .no_signed_zeros()
      .differs_at({-inf});
  rules.equation("pow_minus_half", pow(x, -0.5), reciprocal(sqrt(x)))
      .tags(specialize, "local_pow_specialize")
      .differs_at({-inf, -0.0});

  // Integer exponents are added; for others the sign could change. Opposite exponents would leave a constant.
  const Variable c = pattern_constant("c"), d = pattern_constant("d");
  auto whole = [](double value) { return value == std::floor(value) && std::abs(value) < 1e6; };
  // Powers that have other clients are needed anyway, so the product is not recomputed from the base.
  auto only_here = [](const Match& m) {
    const Apply& product = m.node();
    return std::all_of(product.inputs().begin(), product.inputs().end(), [&](const Variable& power) {
      const auto clients = m.graph().clients(power);
      return std::all_of(clients.begin(), clients.end(), [&](auto& client) { return client.node == product.node(); });
    });
  };
  rules.equation("pow_times_pow", pow(x, c) * pow(x, d), pow(x, c + d))
      .when([=](const Match& m) {
        const double a = m.value(c), b = m.value(d);
        return whole(a) && whole(b) && a + b != 0 && only_here(m);
      })
      .constants({2, 3, -1})
      .wider_domain()
      .tags(canonicalize, "local_mul_pow_to_pow_add");
  // For a negative base the sign of an infinite result might change: for -inf to the power of 0.5 twice, or -2 to a
  // huge power.
  rules.equation("power_of_c_times_power_of_c", pow(c, y) * pow(c, z), pow(c, y + z))
      .when([=](const Match& m) { return m.value(c) > 0 && std::isfinite(m.value(c)) && only_here(m); })
      .constants({2, 3, 0.5})
      .wider_domain()
      .tags(specialize, "local_mul_pow_to_pow_add");
  rules.equation("pow_times_itself", pow(x, c) * x, pow(x, c + 1))
      .when([=](const Match& m) { return whole(m.value(c)) && m.value(c) != -1; })
      .constants({2, 3, -2})
      .once_used(pow(x, c))
      .wider_domain()
      .tags(canonicalize, "local_mul_pow_to_pow_add");

  rules.equation("times_itself", x * x, sqr(x)).on(numbers).tags(specialize, "local_mul_to_sqr");
  rules.equation("one_over", 1 / x, reciprocal(x)).tags(specialize, "local_div_to_reciprocal");
  rules.equation("times_reciprocal", y * reciprocal(x), y / x).tags(specialize).wider_domain();
  rules.equation("sqrt_of_sqr", sqrt(sqr(x)), abs(x)).tags(canonicalize, specialize, "local_sqrt_sqr").wider_domain();
  rules.equation("sqr_of_sqrt", sqr(sqrt(x)), switch_(ge(x, 0), x, nan))
      .tags(canonicalize, specialize, "local_sqrt_sqr")
      .no_signed_zeros();
  rules.equation("sqrt_times_sqrt", sqrt(x) * sqrt(x), switch_(ge(x, 0), x, nan))
      .tags(canonicalize, specialize, "local_sqrt_sqr")
      .no_signed_zeros();
}

const RegisterRules register_powers("powers", declare_powers);

}  // namespace

}  // namespace bitale::rewriting
