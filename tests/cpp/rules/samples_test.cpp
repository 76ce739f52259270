// Every rule that is a function fires on its samples when it is run alone, and preserves the values.
#include <doctest/doctest.h>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/rewriting/rewriting.hpp"
#include "graph/evaluate.hpp"
#include "rewriting/database.hpp"
#include "rewriting/equation.hpp"

using namespace bitale;

namespace {

// The left side of an equation on vectors, with the first of its constants, in a dtype of the rule.
Variable sample_of(const rewriting::Rule& rule) {
  for (DType dtype : {DType::Float64, DType::Int64, DType::Bool}) {
    if (!rewriting::is_among(dtype, rule.equation()->dtypes)) continue;
    Variables leaves;
    std::size_t constants = 0;
    for (auto& leaf : rule.equation()->leaves())
      leaves.push_back(rewriting::is_pattern_constant(leaf)
                           ? rewriting::constant_like(rule.constants()[constants++ % rule.constants().size()], dtype)
                           : Variable(tensor_type(dtype, Dims{unknown_length}), leaf.name()));
    try {
      return rule.equation()->left_on(leaves);
    } catch (const TypeError&) {
      continue;  // not defined for this dtype
    }
  }
  FAIL("no dtype suits " << rule.name());
  return {};
}

// Unknown lengths are 3, and so are integer scalars, which are lengths or positions.
Array value_for(const Variable& leaf, int seed) {
  Dims shape;
  for (std::int64_t length : leaf.static_shape()) shape.push_back(length == unknown_length ? 3 : length);
  if (leaf.ndim() == 0 && is_integer(leaf.dtype())) return Array(3.0).astype(leaf.dtype());
  Array out = Array::empty(DType::Float64, shape);
  for (std::int64_t k = 0; k < out.size(); ++k)
    out.mutable_data_as<double>()[k] = is_float(leaf.dtype())
                                           ? 0.3 + 0.17 * double((7 * k + seed) % 11) - 0.9 * double(k % 2)
                                           : double((k + seed) % 5);
  return out.astype(leaf.dtype());
}

}  // namespace

TEST_CASE("every function rule fires on its samples and keeps the value") {
  const config::Change strict("on_opt_error", "raise");
  for (auto& rule : rewriting::OptDB::instance().rules()) {
    if (rule->equation() || rule->name().starts_with("test_")) continue;  // test_: of other tests
    CAPTURE(rule->name());
    CHECK_MESSAGE(!rule->samples().empty(), "no sample");
    CHECK_MESSAGE(!rule->doc().empty(), "no documentation");
    int number = 0;
    for (auto& sample : rule->samples()) {
      ++number;
      CAPTURE(number);
      const Variable expression = sample();
      RewriteReport report;
      const Variable after = rewrite_graph(expression, {rule->name()}, {}, &report);
      CHECK_MESSAGE(report.hits(rule->name()) > 0, "does not fire on its sample");
      CHECK(expression.type()->is_super(*after.type()));
      const Variables inputs = graph_inputs(Variables{expression, after});
      std::vector<Array> values;
      for (std::size_t i = 0; i < inputs.size(); ++i) values.push_back(value_for(inputs[i], int(i)));
      const Array before_value = evaluate(expression, inputs, values), after_value = evaluate(after, inputs, values);
      CHECK_MESSAGE(before_value.dtype() == after_value.dtype(), "dtype");
      CHECK_MESSAGE(allclose(before_value, after_value, 1e-12, 1e-12), before_value.str()
                                                                           << " became " << after_value.str());
    }
  }
}

// Detects rules that another one always preempts, or whose pattern never matches.
TEST_CASE("every rule fires on its own sample, run by the engine") {
  const config::Change strict("on_opt_error", "raise");
  int idle = 0;
  for (auto& rule : rewriting::OptDB::instance().rules()) {
    if (rule->name().starts_with("test_")) continue;
    CAPTURE(rule->name());
    Variables samples;
    for (auto& sample : rule->samples()) samples.push_back(sample());
    if (rule->equation()) samples = {sample_of(*rule)};
    for (auto& sample : samples) {
      RewriteReport report;
      rewrite_graph(sample, {rule->name()}, {}, &report);
      idle += report.hits(rule->name()) == 0;
      CHECK(report.hits(rule->name()) > 0);
    }
  }
  CHECK(idle == 0);
}
