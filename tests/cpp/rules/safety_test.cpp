// By default, no rule makes a constant of an expression that depends on an input, where a nan would be lost. A query
// without the tag `domain` keeps every nan and infinity; `unsafe_nan` permits their loss.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "bitale/compile/function.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/rewriting/rewriting.hpp"
#include "graph/evaluate.hpp"
#include "rewriting/database.hpp"
#include "rewriting/equation.hpp"
#include "rules/vocabulary.hpp"

using namespace bitale;
using rewriting::Rule;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

rewriting::SharedRules shipped_rules() {
  rewriting::SharedRules out;
  for (auto& rule : rewriting::OptDB::instance().rules())
    if (!rule->name().starts_with("test_")) out.push_back(rule);  // test_: registered by other tests
  return out;
}

bool same(const Array& a, const Array& b) {
  const Array x = a.astype(DType::Float64).contiguous(), y = b.astype(DType::Float64).contiguous();
  if (!(x.shape() == y.shape())) return false;
  for (std::int64_t k = 0; k < x.size(); ++k) {
    const double p = x.data_as<double>()[k], q = y.data_as<double>()[k];
    if (!(p == q || (std::isnan(p) && std::isnan(q)))) return false;
  }
  return true;
}

Array filled(const Variable& leaf, double value) {
  Dims shape;
  for (std::int64_t length : leaf.static_shape()) shape.push_back(length == unknown_length ? 3 : length);
  Array out = Array::empty(DType::Float64, shape);
  for (std::int64_t k = 0; k < out.size(); ++k) out.mutable_data_as<double>()[k] = value;
  return out.astype(leaf.dtype());
}

// After this query the expression either still depends on its inputs, or it had the value of the constant with nan,
// too: with one float input nan at a time, and with all.
void check_constants(const Variable& expression, const RewriteQuery& query) {
  const Variables inputs = graph_inputs(Variables{expression});
  FunctionGraph graph(inputs, {expression});
  rewrite(graph, query);
  if (rewriting::depends_on_inputs(graph.outputs()[0])) return;
  for (std::size_t nan_input = 0; nan_input <= inputs.size(); ++nan_input) {
    std::vector<Array> values;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const bool is_nan = is_float(inputs[i].dtype()) && (i == nan_input || nan_input == inputs.size());
      values.push_back(filled(inputs[i], is_nan ? no_number : 1));
    }
    const Array before = evaluate(expression, inputs, values);
    const Array after = evaluate(graph.outputs(), graph.inputs(), values)[0];
    CHECK_MESSAGE(same(before, after), expression.str()
                                           << " is " << before.str() << ", became the constant " << after.str());
  }
}

std::optional<Variable> left_side(const Rule& rule, DType dtype) {
  Variables leaves;
  std::size_t constants = 0;
  for (auto& leaf : rule.equation()->leaves())
    leaves.push_back(rewriting::is_pattern_constant(leaf)
                         ? rewriting::constant_like(rule.constants()[constants++ % rule.constants().size()], dtype)
                         : Variable(tensor_type(dtype, Dims{unknown_length}), leaf.name()));
  try {
    return rule.equation()->left_on(leaves);
  } catch (const Error&) {
    return std::nullopt;  // not for this dtype
  }
}

const char* const ordinary[] = {"merge", "fast_compile", "fast_run", "fast_run_stable", "stabilize", "o1",
                                "o2",    "o3",           "o4"};

Variables vanishing(const Variable& x, const Variable& y) {
  return {x - x,
          x / x,
          x * 0,
          0 * x,
          0 / x,
          eq(x, x),
          neq(x, x),
          lt(x, x),
          le(x, x),
          gt(x, x),
          ge(x, x),
          pow(x, 0),
          x * reciprocal(x),
          sqr(x) / sqr(x),
          exp(x) / exp(x),
          log(x) - log(x),
          exp(x - x),
          (x + y) - (y + x),
          (x * y) / (y * x),
          x - y - x + y,
          x * y * 0,
          pow(x, 2) / pow(x, 2),
          pow(x, 3) * pow(x, -3),
          pow(x, -1) * x,
          sigmoid(x) / sigmoid(x),
          exp(x) * exp(-x),
          sum(x - x),
          sum(0 * x),
          dot(x, zeros_like(x)),
          abs(x) / abs(x),
          sign(x) - sign(x),
          switch_(gt(x, 0), 0, x * 0),
          maximum(x, x) - x,
          (2 * x - x) - x};
}

}  // namespace

TEST_CASE("no ordinary query makes a constant of a float expression that can be nan") {
  const config::Change strict("on_opt_error", "raise");
  auto x = vector("x"), y = vector("y");
  for (const char* name : ordinary) {
    CAPTURE(name);
    for (auto& expression : vanishing(x, y)) check_constants(expression, query_of(name));
  }
}

TEST_CASE("no rule makes a constant of a float expression that can be nan") {
  const config::Change strict("on_opt_error", "raise");
  int checked = 0;
  for (auto& rule : shipped_rules()) {
    CAPTURE(rule->name());
    Variables expressions;
    if (rule->equation()) {
      if (auto left = left_side(*rule, DType::Float64)) expressions.push_back(*left);
    } else {
      for (auto& sample : rule->samples()) expressions.push_back(sample());
    }
    for (auto& expression : expressions) {
      ++checked;
      check_constants(expression, OPT_FAST_RUN);
    }
  }
  CHECK(checked > 200);
}

TEST_CASE("rules that lose a nan for a constant run only on request") {
  auto x = vector("x"), y = vector("y");
  for (auto& rule : shipped_rules()) {
    if (!rule->has_tag(rewriting::unsafe_nan) || !rule->equation()) continue;
    CAPTURE(rule->name());
    const auto left = left_side(*rule, DType::Float64);
    REQUIRE(left);
    auto hits = [&](const RewriteQuery& query) {
      FunctionGraph graph({*left});
      RewriteReport report;
      rewrite(graph, query, &report);
      return report.hits(rule->name());
    };
    for (const char* name : ordinary) CHECK_MESSAGE(hits(query_of(name)) == 0, name);
    CHECK(hits(OPT_UNSAFE) > 0);
    CHECK(hits(OPT_FAST_RUN.including({"unsafe_nan"})) > 0);
  }
  const Variable gone = rewrite_graph(x - x, {"fast_run", "unsafe_nan"});
  CHECK_FALSE(rewriting::depends_on_inputs(gone));
  CHECK(evaluate(gone, Variables{x}, std::vector<Array>{Array{no_number, 1.0}}).str() == Array{0.0, 0.0}.str());
}

TEST_CASE("rules that change results on part of the domain have the tag `domain`") {
  int declared = 0;
  for (auto& rule : shipped_rules()) {
    CAPTURE(rule->name());
    const bool changes = rule->is_wider_domain() || !rule->differences().empty();
    CHECK(rule->has_tag("domain") == changes);
    declared += changes;
  }
  CHECK(declared > 40);

  auto x = vector("x"), y = vector("y");
  const RewriteQuery strict = OPT_FAST_RUN.excluding({"domain"});
  const std::vector<Array> values{Array{0.0, 1e300, -1e300, no_number, std::numeric_limits<double>::infinity()},
                                  Array{0.0, -1e300, 1e300, 0.0, 0.0}};
  for (auto& expression :
       Variables{x * y / y, log(exp(x)), (x + y) - y, exp(x) / exp(y), log(exp(x) + exp(y)), exp(x) / sum(exp(x)),
                 x * switch_(gt(y, 0), 0, y), log(erfc(x)), sqrt(sqr(x)), (x / y) * y, pow(x, 2) * pow(x, -1)}) {
    CAPTURE(expression.str());
    FunctionGraph graph({x, y}, {expression});
    rewrite(graph, strict);
    CHECK(same(evaluate(expression, Variables{x, y}, values), evaluate(graph.outputs(), graph.inputs(), values)[0]));
    FunctionGraph usual({x, y}, {expression});
    RewriteReport report;
    rewrite(usual, OPT_FAST_RUN, &report);
    std::uint64_t hits = 0;
    for (auto& rule : shipped_rules())
      if (rule->has_tag("domain")) hits += report.hits(rule->name());
    CHECK_MESSAGE(hits > 0, "the strict query excludes no rule");
  }
}

TEST_CASE("the sum over an empty array of infinities is 0") {
  auto v = scalar("v"), x = vector("x");
  auto f = function({v, x}, {sum(alloc(v, {shape_i(x, 0)})), sum(x * 0 + v)});
  for (const Array& value : {Array(std::numeric_limits<double>::infinity()), Array(2.0)}) {
    const auto none = f({value, Array::zeros(DType::Float64, {0})});
    CHECK(none[0].item() == 0);
    CHECK(none[1].item() == 0);
  }
  CHECK(f({Array(2.0), Array::zeros(DType::Float64, {3})})[0].item() == 6);
}
