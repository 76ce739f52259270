// Test values: each node is evaluated on them when it is built.
#include "bitale/graph/test_value.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "bitale/bitale.hpp"

using namespace bitale;

namespace {

Variable with_test_value(const Variable& variable, const Array& value) { return set_test_value(variable, value); }

}  // namespace

TEST_CASE("test values: every node is evaluated when it is built") {
  const config::Change change("compute_test_value", "raise");
  const auto x = with_test_value(dvector("x"), Array{1.0, 2.0, 3.0});
  const auto w = shared(Array{1.0, 0.0, 2.0}, "w");
  const Variable y = sum(x * w + 1.0);
  REQUIRE(test_value(y));
  CHECK(test_value(y)->item() == 10.0);
  CHECK(test_value(constant(Array(2.5)))->item() == 2.5);
  CHECK(identical(*test_value(w), get_value(w)));
  // Nodes of gradients have test values, too; nodes that are created during compilation need none.
  const Variable g = grad(y, Variables{x})[0];
  CHECK(identical(*test_value(g), Array{1.0, 0.0, 2.0}));
  CHECK(function({x}, g)({Array{5.0, 5.0, 5.0}})[0].at(std::vector<std::int64_t>{2}) == 2.0);
}

TEST_CASE("test values: an invalid expression fails on its source line") {
  const config::Change change("compute_test_value", "raise");
  const auto x = with_test_value(dvector("x"), Array{1.0, 2.0, 3.0}),
             y = with_test_value(dvector("y"), Array{1.0, 2.0});
  const int line = __LINE__ + 2;
  try {
    x + y;
    FAIL_CHECK("nothing was raised");
  } catch (const ShapeError& error) {
    const std::string text = error.what();
    INFO(text);
    CHECK(text.find("test_value_test.cpp:" + std::to_string(line)) != text.npos);
    CHECK(text.find("y: f64 (2,)") != text.npos);
    CHECK(failing_node(error));
  }
}

TEST_CASE("test values: a missing value raises, is ignored, warns or stops") {
  const auto x = dvector("x"), y = with_test_value(dvector("y"), Array{1.0, 2.0});
  {
    const config::Change change("compute_test_value", "raise");
    CHECK_THROWS_AS(x + y, AttributeError);
    CHECK_THROWS_AS(exp(x), AttributeError);
  }
  {
    const config::Change change("compute_test_value", "ignore");
    const Variable z = x + y;
    CHECK(!test_value(z));
    CHECK(test_value(exp(y)));
  }
  {
    const config::Change change("compute_test_value", "warn");
    std::vector<std::string> warnings;
    set_warning_handler([&](const std::string& text) { warnings.push_back(text); });
    const Variable z = x + y;
    set_warning_handler({});
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].find("`x` of type") != std::string::npos);
  }
  {
    const config::Change change("compute_test_value", "pdb");
    int stops = 0;
    set_break_handler([&](std::string_view, std::span<Array> values) { stops += values.empty(); });
    const Variable z = x + y;
    set_break_handler({});
    CHECK(stops == 1);
  }
  const Variable z = exp(y);  // off again
  CHECK(!test_value(z));
}

TEST_CASE("test values: a value must be of the variable's type") {
  CHECK_THROWS_AS(set_test_value(dvector("x"), Array(1.0)), TypeError);
  CHECK_THROWS_AS(set_test_value(lscalar("n"), Array(1.5)), TypeError);
}

TEST_CASE("test values: replacing evaluates again, copying graphs does not") {
  const config::Change change("compute_test_value", "raise");
  const auto x = with_test_value(dscalar("x"), Array(2.0)), other = with_test_value(dscalar("other"), Array(3.0));
  const Variable y = x * x;
  CHECK(test_value(clone_replace(Variables{y}, {{x, other}})[0])->item() == 9.0);
  const auto unknown = dscalar("unknown");
  Variable z;
  {
    const config::Change off("compute_test_value", "off");
    z = exp(unknown);
  }
  CHECK_NOTHROW(FunctionGraph({unknown}, {z}));
  CHECK_NOTHROW(function({unknown}, z));
}
