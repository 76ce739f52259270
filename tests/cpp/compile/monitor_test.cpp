// Modes that watch values, from C++.
#include "bitale/compile/monitor.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "bitale/bitale.hpp"
#include "bitale/core/text.hpp"

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

TEST_CASE("NanGuard names what is wrong, and where") {
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
  options.action = "shout";
  CHECK_THROWS_AS(nan_guard_mode(options), ValueError);
  CHECK_THROWS_AS(nan_guard_linker({false, false, false, {}, {}}), ValueError);
}
