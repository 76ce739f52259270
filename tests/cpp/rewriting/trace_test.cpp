// Rewriting step by step.
#include <doctest/doctest.h>

#include "bitale/ops/ops.hpp"
#include "bitale/rewriting/rewriting.hpp"

using namespace bitale;

TEST_CASE("a trace has one step per use of a rule, in order") {
  const Variable x = vector("x"), y = vector("y");
  const auto steps = trace_rewrite(log1p(exp(x * y / y)), {"fast_run"});
  REQUIRE(steps.size() == 2);
  CHECK(steps.front().rule == "product_over_factor");
  CHECK(steps.front().phase == "canonicalize");
  CHECK(steps.front().before == "x * y / y");
  CHECK(steps.front().after == "x");
  CHECK(steps.front().graph == "log1p(exp(x))");
  CHECK(steps.back().graph == "softplus(x)");
  const std::string text = steps_text(steps);
  CHECK(text.find("1. canonicalize/product_over_factor: x * y / y  ->  x\n") != std::string::npos);
}

TEST_CASE("nothing to do leaves no steps") {
  const Variable x = vector("x");
  CHECK(trace_rewrite(tanh(x)).empty());
  CHECK(steps_text({}).empty());
}

TEST_CASE("steps are recorded only when asked for") {
  const Variable x = vector("x");
  RewriteReport report;
  rewrite_graph(log(1 + x), {"fast_run"}, {}, &report);
  CHECK(report.hits("log1p") == 1);
  CHECK(report.steps.empty());
}
