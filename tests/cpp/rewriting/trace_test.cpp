// Rewriting step by step.
#include <doctest/doctest.h>

#include "bitale/ops/ops.hpp"
#include "bitale/printing/printing.hpp"
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

TEST_CASE("a graph that no rule changes has no steps") {
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

TEST_CASE("steps as a page: one picture per step, with the changes marked") {
  const Variable x = vector("x"), y = vector("y");
  const auto steps = trace_rewrite(log(1 + x * y / y) < 3, {"product_over_factor", "log1p"});
  const std::string page = steps_html(steps);
  const auto count = [&](const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = page.find(part); at != std::string::npos; at = page.find(part, at + 1)) ++found;
    return found;
  };
  CHECK(count("<section>") == 2);
  CHECK(count("<pre>") == 4);
  CHECK(page.find("1 of 2: canonicalize/product_over_factor") != std::string::npos);
  CHECK(page.find("2 of 2: stabilize/log1p") != std::string::npos);
  CHECK(count("<mark class=gone>") > 1);
  CHECK(page.find("Log1p</mark>") != std::string::npos);
  CHECK(page.find("Lt</mark>") == std::string::npos);  // unchanged
  CHECK(page.find("id=\"previous\"") != std::string::npos);
  CHECK(page.find("http") == std::string::npos);
  CHECK(page.find("log(1 + x) &lt; 3") == std::string::npos);
  CHECK(steps_html({}).find("Nothing was rewritten") != std::string::npos);
}
