// verify_rule, the check that users run on their rules: it accepts the rules of the library and rejects wrong ones.
#include <doctest/doctest.h>

#include "bitale/core/error.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/rewriting/rewriting.hpp"
#include "bitale/rewriting/rules.hpp"

using namespace bitale;
using namespace bitale::rewriting;

namespace {

bool fails_with(const Rule& rule, const std::string& part) {
  const CheckReport report = verify_rule(rule);
  INFO(report.str());
  return report.failures.size() > 0 && report.str().find(part) != std::string::npos;
}

bool passes(const Rule& rule) {
  const CheckReport report = verify_rule(rule);
  if (!report.ok()) MESSAGE(report.str());
  return report.ok() && report.compared > 0;
}

}  // namespace

TEST_CASE("registered rules pass: equations with claims, constants, conditions, and functions with samples") {
  for (const char* name : {"log1p", "product_over_factor", "sum_minus_term", "neg_times_neg", "minus_zero",
                           "constant_folding", "zero_minus"}) {
    const CheckReport report = verify_rule(name);
    CHECK_MESSAGE(report.ok(), report.str());
    CHECK(report.compared > 0);
  }
  CHECK_THROWS_AS(verify_rule("log1q"), KeyError);
}

TEST_CASE("assumptions restrict the test points") {
  auto [x, y] = pattern_variables<2>();
  CHECK(fails_with(Rule("sum_of_logs", log(x) + log(y), log(x * y)), "declare wider_domain"));
  Rule assuming("sum_of_logs", log(x) + log(y), log(x * y));
  assuming.assume({gt(x, 0), gt(y, 0)}).wider_domain();
  CHECK_FALSE(verify_rule(assuming).ok());  // 1e200 * 1e200 overflows
  Rule safe("sum_of_logs", log(x) + log(y), log(x * y));
  safe.assume({gt(x, 0.01), lt(x, 1000), gt(y, 0.01), lt(y, 1000)});
  CHECK(passes(safe));
  Rule of_sums("sum_of_sqrt", sum(sqrt(sqr(x))), sum(x));
  CHECK_FALSE(verify_rule(of_sums).ok());
  CHECK(passes(of_sums.assume({gt(x, 0)})));
  Rule nowhere("nowhere", log(x), log(x) + 0);
  CHECK(fails_with(nowhere.assume({gt(x, 0), lt(x, 0)}), "nothing could be compared"));
  CHECK_THROWS_AS(Rule("more", log(x), log(x) + 0).assume({gt(y, 0)}), ValueError);
}

TEST_CASE("a rule is applied where the graph implies its assumptions") {
  auto [x, y] = pattern_variables<2>();
  const auto fires = [](const Rule& rule, const Variable& expression) {
    FunctionGraph graph({expression});
    return rule.apply(graph, graph.outputs()[0].owner()).has_value();
  };
  Rule rule("sum_of_logs", log(x) + log(y), log(x * y));
  rule.assume({gt(x, 0), gt(y, 0)});
  const Variable a = vector("a"), b = vector("b"), m = matrix("m");
  CHECK(fires(rule, log(exp(a)) + log(1 + sqr(b))));
  CHECK(fires(rule, log(sigmoid(a)) + log(constant(Array{1.0, 2.0}))));
  CHECK(fires(rule, log(transpose(exp(m)) * 2) + log(clip(m, 1, 3))));
  CHECK_FALSE(fires(rule, log(a) + log(exp(b))));
  CHECK_FALSE(fires(rule, log(abs(a)) + log(exp(b))));  // abs may be 0
  CHECK_FALSE(fires(rule, log(exp(a)) + log(constant(Array{1.0, -2.0}))));
  Rule of_both("difference", sqrt(sqr(x - y)), x - y);
  of_both.assume({ge(x, y)}).wider_domain().no_signed_zeros();
  CHECK(passes(of_both));
  CHECK(fires(of_both, sqrt(sqr(2 + sigmoid(a) - tanh(a)))));
  CHECK_FALSE(fires(of_both, sqrt(sqr(sigmoid(a) - tanh(a)))));
  Rule vouched("sum_of_logs", log(x) + log(y), log(x * y));
  CHECK(fires(vouched.assume({gt(x, 0), gt(y, 0)}).tags(unsafe), log(a) + log(b)));
}

TEST_CASE("claims of accuracy are measured, or refused") {
  auto [x, y] = pattern_variables<2>();
  CHECK(passes(Rule("more", log(1 + x), log1p(x)).more_accurate().no_signed_zeros()));
  CHECK(fails_with(Rule("less", log1p(x), log(1 + x) + 0).more_accurate().assume({gt(x, 1), lt(x, 30)}),
                   "the worst relative error is"));
  CHECK(fails_with(Rule("same", sin(x) * y, y * sin(x)).more_accurate(), "the worst relative error is"));
  CHECK(fails_with(Rule("unknown", gammaln(x) + 0, gammaln(x)).more_accurate(), "gammaln has no exact form"));
  Rule two("two", log(1 + x) - log(1 + y), log1p(x) - log1p(y));
  two.more_accurate().assume({gt(x, 0), lt(x, 1e-3), gt(y, 1)}).no_signed_zeros();
  const CheckReport report = verify_rule(two);
  CHECK_MESSAGE(report.str().find("more accurate") != std::string::npos, report.str());  // y determines the digits
}

TEST_CASE("broadcast operands are checked") {
  auto [x, y] = pattern_variables<2>();
  CHECK(passes(Rule("repeated", second(x, y), y)));
  // Correct only for equal shapes.
  CHECK(fails_with(Rule("sum_of_sum", sum(x + y), sum(x) + sum(y)), "the values differ"));
}

TEST_CASE("wrong equations are caught") {
  auto [x, y] = pattern_variables<2>();
  CHECK(fails_with(Rule("values", sin(x), 1.001 * sin(x)), "the values differ"));
  CHECK(fails_with(Rule("wraps", int_div(2 * x, 2), x).on(signed_ints), "the values differ"));
  CHECK(fails_with(Rule("lost_nan", x - x, Operand(0).variable), "declare wider_domain"));
  CHECK(fails_with(Rule("narrower", x + 0, log(exp(x))), "the left side is finite"));
  CHECK(fails_with(Rule("overclaiming", -(-x), x).wider_domain(), "claims a wider domain"));
  CHECK(fails_with(Rule("overclaiming", -(-x), x).no_signed_zeros(), "claims zeros of either sign"));
  CHECK(fails_with(Rule("never", -(-x), x).when([](const Match&) { return false; }), "does not fire"));
}

TEST_CASE("wrong functions are caught") {
  auto rule = [](auto function) {
    return std::make_unique<Rule>("user", Root::scalar({"tanh"}), [=](FunctionGraph&, const Apply& node) {
      return std::optional(Variables{function(node.input(0))});
    });
  };
  auto sample = [] { return tanh(vector("x")) * 2; };
  auto right = rule([](const Variable& x) { return -tanh(-x); });
  CHECK(fails_with(*right, "has no sample"));
  right->sample([] { return sin(vector("x")); });
  CHECK(fails_with(*right, "does not fire"));
  auto good = rule([](const Variable& x) { return 1 / (1 / tanh(x)); });
  CHECK(passes(good->sample(sample)));
  auto wrong = rule([](const Variable& x) { return sin(x); });
  CHECK(fails_with(wrong->sample(sample), "became"));
  auto dtype = rule([](const Variable& x) { return cast(tanh(x), DType::Float32); });
  CHECK(fails_with(dtype->sample(sample), "changes the type"));
}
