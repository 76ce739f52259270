// ifelse in every linker: values, laziness, nesting, depth, gradients.
#include <doctest/doctest.h>

#include <cmath>

#include "bitale/bitale.hpp"
#include "link/linker.hpp"

using namespace bitale;

namespace {

FunctionOptions in_mode(const Linker& linker, std::string optimizer = "fast_run") {
  FunctionOptions options;
  options.mode = Mode(linker, std::move(optimizer));
  options.on_unused_input = OnUnusedInput::Ignore;
  return options;
}

// Fails when it runs on vectors of different lengths.
Variable fragile(const Variable& x, const Variable& y) { return exp(x) + y; }

// How many nodes of that name a call runs.
int runs(const std::string& name, const Variables& inputs, const Variables& outputs, const std::vector<Array>& values) {
  int count = 0;
  const Linker linker = vm_linker([&](NodeStep& step) { count += step.node.op().label() == name; });
  function(inputs, outputs, in_mode(linker, "None")).call(values);
  return count;
}

}  // namespace

TEST_CASE("ifelse returns the chosen values, and errors of the other branch do not occur") {
  const Variable c = scalar("c"), x = vector("x"), y = vector("y");
  for (auto& linker : linker_names()) {
    INFO(linker);
    const auto f = function({c, x, y}, ifelse(c > 0.0, fragile(x, y), sum(x) * y), in_mode(linker));
    CHECK(allclose(f({1.0, Array{0., 0.}, Array{1., 2.}}), Array{2., 3.}));
    CHECK(allclose(f({-1.0, Array{1., 2., 3.}, Array{1., 2.}}), Array{6., 12.}));
    CHECK_THROWS_AS(f({1.0, Array{1., 2., 3.}, Array{1., 2.}}), ShapeError);
    // Also with scalar results.
    const auto g = function({c, x, y}, ifelse(c, sum(fragile(x, y)), sum(y)) * 2.0, in_mode(linker));
    CHECK(g({1.0, Array{0., 0.}, Array{1., 2.}}).item() == doctest::Approx(10));
    CHECK(g({0.0, Array{1., 2., 3.}, Array{1., 2.}}).item() == 6);
  }
}

TEST_CASE("several outputs, of different lengths in the two branches") {
  const Variable c = scalar("c", DType::Int64), x = vector("x"), n = scalar("n", DType::Int32);
  for (auto& linker : linker_names()) {
    INFO(linker);
    const auto f = function({c, x, n}, ifelse(c, {exp(x), n}, {join(0, {x, x}), n + n}), in_mode(linker));
    const Results one = f({std::int64_t(7), Array{0., 0.}, std::int32_t(3)}),
                  other = f({std::int64_t(0), Array{1., 2.}, std::int32_t(3)});
    CHECK(allclose(one[0], Array{1., 1.}));
    CHECK(one[1].item() == 3);
    CHECK(allclose(other[0], Array{1., 2., 1., 2.}));
    CHECK(other[1].item() == 6);
  }
}

TEST_CASE("a value shared by two ifelse of one condition is computed only for the branch that needs it") {
  const Variable c = scalar("c"), x = vector("x"), y = vector("y");
  const Variable both = fragile(x, y);
  for (auto& linker : linker_names()) {
    INFO(linker);
    const auto f = function({c, x, y}, {ifelse(c, both * 2.0, y), ifelse(c, sum(both), sum(x))}, in_mode(linker));
    CHECK(f({1.0, Array{0.}, Array{1.}})[1].item() == 2);
    const Results other = f({0.0, Array{0., 1.}, Array{1.}});
    CHECK(allclose(other[0], Array{1.}));
    CHECK(other[1].item() == 1);
  }
}

TEST_CASE("nested ifelse, and ifelse of results of ifelse") {
  const Variable c = scalar("c"), d = scalar("d"), x = vector("x"), y = vector("y");
  const Variable inner = ifelse(d, fragile(x, y), exp(y));
  const Variable outer = ifelse(c, inner * 2.0, sin(y));
  const Variable after = ifelse(sum(outer) > 1.0, cos(outer), tanh(outer));
  for (auto& linker : linker_names()) {
    INFO(linker);
    const auto f = function({c, d, x, y}, {outer, after}, in_mode(linker));
    const Array bad{0., 0.}, one{1.};
    const Results inside = f({1.0, 0.0, bad, one}), outside = f({0.0, 1.0, bad, one});
    CHECK(allclose(inside[0], Array{2 * std::exp(1.)}));
    CHECK(allclose(inside[1], Array{std::cos(2 * std::exp(1.))}));
    CHECK(allclose(outside[0], Array{std::sin(1.)}));
    CHECK(allclose(outside[1], Array{std::tanh(std::sin(1.))}));
    CHECK_THROWS_AS(f({1.0, 1.0, bad, one}), ShapeError);
  }
}

TEST_CASE("the virtual machine runs only the nodes of the chosen branch") {
  const Variable c = scalar("c"), x = vector("x");
  const Variable choice = ifelse(c, exp(x), sin(x));
  CHECK(runs("Exp", {c, x}, {choice}, {1.0, Array{1.}}) == 1);
  CHECK(runs("Exp", {c, x}, {choice}, {0.0, Array{1.}}) == 0);
  CHECK(runs("Sin", {c, x}, {choice}, {0.0, Array{1.}}) == 1);
  CHECK(runs("Exp", {c, x}, {choice, exp(x)}, {0.0, Array{1.}}) == 1);
}

TEST_CASE("a value that one branch overwrites is intact for readers in the other") {
  const Variable c = scalar("c"), x = vector("x");
  const Variable t = exp(x);
  const Variable changed = set_subtensor(t, {0}, constant(Array(5.0)));
  for (auto& linker : linker_names()) {
    const auto f = function({c, x}, {ifelse(c + sum(changed) * 0.0, changed, t * 2.0), sum(t)}, in_mode(linker));
    const Results one = f({1.0, Array{0., 0.}}), other = f({0.0, Array{0., 0.}});
    CHECK(allclose(one[0], Array{5., 1.}));
    CHECK(allclose(other[0], Array{2., 2.}));
    CHECK(one[1].item() == 2);
    CHECK(other[1].item() == 2);
  }
}

TEST_CASE("long chains and deep nests of ifelse") {
  const Variable c = scalar("c"), x = vector("x");
  // Both branches read the previous result.
  const auto chain = [&](int length) {
    Variable out = x;
    for (int i = 0; i < length; ++i) out = ifelse(c > double(i), out - 1.0, out + 1.0);
    return out;
  };
  CHECK(allclose(function({c, x}, chain(20000), in_mode("vm", "None"))({100.0, Array{0.}}), Array{19800.}));
  CHECK(allclose(function({c, x}, chain(40), in_mode("jit", "None"))({10.0, Array{0.}}), Array{20.}));
  // Only one of the branches does.
  const auto nest = [&](int depth) {
    Variable out = x;
    for (int i = 0; i < depth; ++i) out = ifelse(c > double(i), x * 0.0, out + 1.0);
    return out;
  };
  CHECK(allclose(function({c, x}, nest(20000), in_mode("vm", "None"))({-1.0, Array{0.}}), Array{20000.}));
  CHECK(allclose(function({c, x}, nest(100), in_mode("jit", "None"))({-1.0, Array{0.}}), Array{100.}));
  CHECK(allclose(function({c, x}, nest(100), in_mode("jit", "None"))({98.5, Array{0.}}), Array{1.}));
}

TEST_CASE("the gradient is that of the chosen branch") {
  const Variable c = scalar("c"), x = vector("x"), y = vector("y");
  const Variable cost = sum(ifelse(c > 0.0, exp(x) * y, sqr(y)));
  for (auto& linker : linker_names()) {
    INFO(linker);
    const auto f = function({c, x, y}, grad(cost, {x, y}), in_mode(linker));
    const Results one = f({1.0, Array{0., 1.}, Array{2., 3.}}), other = f({0.0, Array{0., 1.}, Array{2., 3.}});
    CHECK(allclose(one[0], Array{2., 3 * std::exp(1.)}));
    CHECK(allclose(one[1], Array{1., std::exp(1.)}));
    CHECK(allclose(other[0], Array{0., 0.}));
    CHECK(allclose(other[1], Array{4., 6.}));
  }
}

TEST_CASE("invalid arguments of ifelse are refused with the reason") {
  const Variable c = scalar("c"), x = vector("x");
  CHECK_THROWS_WITH_AS(ifelse(x, x, x), doctest::Contains("scalar condition"), TypeError);
  CHECK_THROWS_WITH_AS(ifelse(c, x, cast(x, DType::Float32)), doctest::Contains("different dtypes"), TypeError);
  CHECK_THROWS_WITH_AS(ifelse(c, x, c), doctest::Contains("different numbers of dimensions"), TypeError);
  CHECK_THROWS_WITH_AS(ifelse(c, Variables{x, x}, Variables{x}), doctest::Contains("2 if true and 1"), ValueError);
  CHECK_THROWS_AS(ifelse(c, Variables{}, Variables{}), ValueError);
}
