// The check that users run on rules of their own: it passes the library's rules and catches wrong ones.
#include <doctest/doctest.h>

#include "bitale/core/error.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/rewriting/rewriting.hpp"
#include "bitale/rewriting/rules.hpp"

using namespace bitale;
using namespace bitale::rewriting;

namespace {

bool complains(const Rule& rule, const std::string& part) {
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

TEST_CASE("what is assumed restricts the points") {
  auto [x, y] = pattern_variables<2>();
  CHECK(complains(Rule("sum_of_logs", log(x) + log(y), log(x * y)), "declare wider_domain"));
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
  CHECK(complains(nowhere.assume({gt(x, 0), lt(x, 0)}), "nothing could be compared"));
  CHECK_THROWS_AS(Rule("more", log(x), log(x) + 0).assume({gt(y, 0)}), ValueError);
}

TEST_CASE("wrong equations are caught") {
  auto [x, y] = pattern_variables<2>();
  CHECK(complains(Rule("values", sin(x), 1.001 * sin(x)), "the values differ"));
  CHECK(complains(Rule("wraps", int_div(2 * x, 2), x).on(signed_ints), "the values differ"));
  CHECK(complains(Rule("lost_nan", x - x, Operand(0).variable), "declare wider_domain"));
  CHECK(complains(Rule("narrower", x + 0, log(exp(x))), "the left side is finite"));
  CHECK(complains(Rule("boasting", -(-x), x).wider_domain(), "claims a wider domain"));
  CHECK(complains(Rule("boasting", -(-x), x).either_zero(), "claims zeros of either sign"));
  CHECK(complains(Rule("never", -(-x), x).when([](const Match&) { return false; }), "does not fire"));
}

TEST_CASE("wrong functions are caught") {
  auto rule = [](auto function) {
    return std::make_unique<Rule>("user", Root::scalar({"tanh"}), [=](FunctionGraph&, const Apply& node) {
      return std::optional(Variables{function(node.input(0))});
    });
  };
  auto sample = [] { return tanh(vector("x")) * 2; };
  auto right = rule([](const Variable& x) { return -tanh(-x); });
  CHECK(complains(*right, "has no sample"));
  right->sample([] { return sin(vector("x")); });
  CHECK(complains(*right, "does not fire"));
  auto good = rule([](const Variable& x) { return 1 / (1 / tanh(x)); });
  CHECK(passes(good->sample(sample)));
  auto wrong = rule([](const Variable& x) { return sin(x); });
  CHECK(complains(wrong->sample(sample), "became"));
  auto dtype = rule([](const Variable& x) { return cast(tanh(x), DType::Float32); });
  CHECK(complains(dtype->sample(sample), "changes the type"));
}
