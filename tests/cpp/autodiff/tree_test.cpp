// Values made of variables: taken apart, put together, and gradients of their structure.
#include "bitale/autodiff/tree.hpp"

#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bitale/compile/function.hpp"
#include "bitale/core/error.hpp"
#include "bitale/ops/ops.hpp"

using namespace bitale;

namespace tree_test {

struct Layer {
  Variable W, b;
};
BITALE_TREE(Layer, W, b)

struct Model {
  std::vector<Layer> layers;
  std::map<std::string, Variable> scales;
  std::tuple<Variable, std::optional<Variable>> rest;
};
BITALE_TREE(Model, layers, scales, rest)

}  // namespace tree_test

using namespace tree_test;

TEST_CASE("values made of variables are taken apart and put together") {
  const auto x = dscalar("x"), y = dscalar("y"), z = dscalar("z"), u = dscalar("u");
  const Model model{{{x, y}}, {{"a", z}}, {u, {}}};
  const Variables found = variables_of(model);
  REQUIRE(found.size() == 4);
  CHECK(found[0].same_as(x));
  CHECK(found[3].same_as(u));
  const Model other = with_variables(model, {y, x, u, z});
  CHECK(other.layers[0].W.same_as(y));
  CHECK(other.scales.at("a").same_as(u));
  CHECK_THROWS_AS(with_variables(model, {x}), ValueError);
}

TEST_CASE("gradients have the structure of the value") {
  const auto x = dvector("x");
  const Layer layer{dvector("W"), dscalar("b")};
  const auto loss_of = [&](const Layer& own) { return sum(own.W * x) * own.b; };
  const auto [loss, slope] = value_and_grad(loss_of, layer);
  auto f = function({layer.W, layer.b, x}, {loss, slope.W, slope.b});
  const auto results = f(std::vector{1.0, 2.0}, 3.0, std::vector{4.0, 5.0});
  CHECK(results[0].item() == 42);
  CHECK(results[1].data_as<double>()[1] == 15);
  CHECK(results[2].item() == 14);
  const auto [by_W, by_b] = grad(loss, std::pair(layer.W, layer.b));
  auto g = function({layer.W, layer.b, x}, {by_W, by_b});
  CHECK(g(std::vector{1.0, 2.0}, 3.0, std::vector{4.0, 5.0})[1].item() == 14);
}
