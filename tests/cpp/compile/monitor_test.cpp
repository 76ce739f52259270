// Modes that monitor values, from C++.
#include "bitale/compile/monitor.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "bitale/bitale.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/features.hpp"

using namespace bitale;

namespace {

Array call(const Mode& mode, const Variable& x, const Variable& output, const Array& value) {
  FunctionOptions options;
  options.mode = mode;
  return function({x}, output, options)({value}).single();
}

}  // namespace

TEST_CASE("a monitor is called before and after each node") {
  const Variable x = vector("x");
  std::string seen;
  const Mode mode = monitor_mode([&](NodeStep& step) { seen += cat("<", step.index); },
                                 [&](NodeStep& step) { seen += cat(">", step.outputs()[0].str(), " "); });
  call(mode, x, sum(exp(x)), Array{0., 0.});
  CHECK(seen == "<0>[1. 1.] <1>2.0 ");
}

TEST_CASE("NanGuard names the kind of value and the variable") {
  const Variable x = vector("x");
  CHECK(call(nan_guard_mode(), x, log(x), Array{1.}).item() == 0);
  CHECK_THROWS_WITH_AS(call(nan_guard_mode(), x, log(x), Array{-1.}), doctest::Contains("a nan in output 0"),
                       NanGuardError);
  CHECK_THROWS_WITH_AS(call(nan_guard_mode(), x, log(x), Array{1e11}), doctest::Contains("input `x`"), NanGuardError);
  CHECK_THROWS_WITH_AS(call(nan_guard_mode(), x, 1.0 / x, Array{0.}), doctest::Contains("an infinity"), NanGuardError);
  std::string reported;
  NanGuardOptions options;
  options.inf_is_error = options.big_is_error = false;
  options.report = [&](const std::string& message) { reported += message; };
  call(nan_guard_mode(options), x, 1.0 / x, Array{0.});
  CHECK(reported.empty());
  call(nan_guard_mode(options), x, log(x), Array{-1.});
  CHECK(reported.find("a nan") != std::string::npos);
  REQUIRE(nan_guard_options(nan_guard_linker(options)));
  CHECK(nan_guard_options(nan_guard_linker(options))->inf_is_error == false);
  CHECK(!nan_guard_options(vm_linker({})));
  options.action = "shout";
  CHECK_THROWS_AS(nan_guard_mode(options), ValueError);
  CHECK_THROWS_AS(nan_guard_linker({false, false, false, {}, {}}), ValueError);
}

TEST_CASE("NanGuard skips unguarded variables, also after rewriting") {
  const auto first = [](const Variable& x) { return log(x * 1.0) + 0.0; };
  const Variable x = vector("x"), y = first(x);
  for (const char* optimizer : {"None", "fast_run"}) {
    const Mode mode = nan_guard_mode({}, optimizer);
    CHECK_THROWS_AS(call(mode, x, y, Array{-1.}), NanGuardError);
    // Rewriting may replace any of these results by another of equal value, so all are unguarded.
    const Variable other = first(x);
    for (Variable part = other; part.has_owner(); part = part.owner().input(0)) set_nan_guarded(part, false);
    CHECK(std::isnan(call(mode, x, other, Array{-1.}).item()));
    CHECK_THROWS_AS(call(mode, x, other, Array{std::nan("")}), NanGuardError);
  }
  const Variable z = set_nan_guarded(vector("z"), false);
  CHECK(call(nan_guard_mode(), z, minimum(z, 1.0), Array{1e300}).item() == 1);
  CHECK_THROWS_AS(call(nan_guard_mode(), set_nan_guarded(z, true), minimum(z, 1.0), Array{1e300}), NanGuardError);
}

TEST_CASE("reverting a replacement restores the guard of the new variable") {
  const Variable x = vector("x");
  FunctionGraph graph({x}, {exp(x)});
  const Variable before = graph.outputs()[0];
  set_nan_guarded(before, false);
  const Variable after = sqr(graph.inputs()[0]);
  const auto history = std::make_shared<History>();
  graph.attach(history);
  const auto start = history->checkpoint();
  graph.replace(before, after, "square");
  CHECK(!graph.outputs()[0].is_guarded());
  history->revert(graph, start);
  CHECK(after.is_guarded());
}
