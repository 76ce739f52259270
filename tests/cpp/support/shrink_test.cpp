// Tests of the shrinker: deliberately wrong rules, deep in a graph, are reduced to the nodes that they match.
#include "support/shrink.hpp"

#include <doctest/doctest.h>

#include "bitale/core/config.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/rewriting/rewriting.hpp"
#include "bitale/rewriting/rules.hpp"
#include "graph/evaluate.hpp"

using namespace bitale;
using rewriting::Rules;
using test::Case;

namespace {

void register_wrong_rules() {
  static const bool once = [] {
    rewriting::register_rules([](Rules& rules) {
      const Variable x = rewriting::pattern_variable("x");
      rules.equation("test_wrong_cosh", cosh(x), sinh(x)).tags(rewriting::specialize, rewriting::opt_in);
      rules.equation("test_wrong_pair", arctan(sin(x)), arctan(cos(x))).tags(rewriting::specialize, rewriting::opt_in);
    });
    return true;
  }();
  (void)once;
}

// A graph of more than fifty nodes around one part.
Case around(const std::function<Variable(const Variable&)>& part) {
  const Variable m = matrix("m"), v = vector("v"), s = dscalar("s");
  Variable x = exp(-sqr(m * s)) + v, y = v;
  for (int i = 0; i < 5; ++i) {
    x = tanh(x * 0.5 + transpose(dot(transpose(x), x))) - sum(x, std::vector<int>{0});
    y = sigmoid(y) * 2 + s;
  }
  const Variable inside = part(x + y);
  for (int i = 0; i < 5; ++i) y = y + log1p(sqr(inside) * (i + 1.5) + sum(y));
  Array values = Array::empty(DType::Float64, {3, 3});
  for (int k = 0; k < 9; ++k) values.mutable_data_as<double>()[k] = 0.3 + 0.17 * k;
  return {{m, v, s}, {sum(x), y + exp(inside), max(y)}, {values, Array{0.4, -0.7, 1.1}, Array(0.77)}};
}

bool differs(const Case& candidate, const std::string& rule) {
  const std::vector<Array> before = evaluate(candidate.outputs, candidate.inputs, candidate.values);
  const std::vector<Array> after =
      evaluate(rewrite_graph(candidate.outputs, {rule}), candidate.inputs, candidate.values);
  for (std::size_t i = 0; i < before.size(); ++i)
    if (!allclose(before[i], after[i], 1e-9, 1e-9)) return true;
  return false;
}

}  // namespace

TEST_CASE("a wrong rule is reduced to its node") {
  register_wrong_rules();
  const auto fails = [](const Case& candidate) { return differs(candidate, "test_wrong_cosh"); };
  const Case start = around([](const Variable& x) { return cosh(x); });
  REQUIRE(fails(start));
  REQUIRE(node_count(start.outputs) > 50);
  const Case small = test::shrink(start, fails);
  CHECK(fails(small));
  CHECK(node_count(small.outputs) == 1);
  CHECK(small.outputs.size() == 1);
  REQUIRE(small.inputs.size() == 1);
  CHECK(small.values[0].size() == 1);
  CHECK(small.values[0].str().find("1") != std::string::npos);
  const std::string text = describe(small);
  CHECK_MESSAGE(text.find("Cosh") != std::string::npos, text);
  CHECK_MESSAGE(text.find("float64") != std::string::npos, text);
}

TEST_CASE("the nodes that a wrong rule matches are kept together") {
  register_wrong_rules();
  const auto fails = [](const Case& candidate) { return differs(candidate, "test_wrong_pair"); };
  const Case start = around([](const Variable& x) { return arctan(sin(x * 3)); });
  REQUIRE(fails(start));
  const Case small = test::shrink(start, fails);
  CHECK(fails(small));
  CHECK_MESSAGE(node_count(small.outputs) == 2, describe(small));
}

TEST_CASE("lengths are shortened only while the failure persists") {
  const auto fails = [](const Case& candidate) {
    const Array value = evaluate(candidate.outputs[0], candidate.inputs, candidate.values);
    return node_count(candidate.outputs) > 0 && value.ndim() == 2 && value.shape(1) >= 2;
  };
  const Variable m = matrix("m");
  const Case small = test::shrink({{m}, {exp(m) + 1}, {Array::zeros(DType::Float64, {8, 16})}}, fails);
  CHECK(node_count(small.outputs) == 1);
  CHECK(small.values[0].shape() == Dims{1, 2});
}

TEST_CASE("a candidate for which the predicate throws is rejected") {
  int calls = 0;
  const auto fails = [&](const Case& candidate) {
    ++calls;
    if (node_count(candidate.outputs) < 3) throw std::runtime_error("no answer");
    return true;
  };
  const Variable x = vector("x");
  const Case small = test::shrink({{x}, {sin(cos(tan(exp(x))))}, {Array{1.0}}}, fails, 40);
  CHECK(node_count(small.outputs) == 3);
  CHECK(calls <= 40);
}
