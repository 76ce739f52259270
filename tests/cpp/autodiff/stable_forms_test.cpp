// Expressions are differentiated in the form that the stabilize rules give them; the variables themselves are
// unchanged.
#include <doctest/doctest.h>

#include "bitale/autodiff/gradient.hpp"
#include "bitale/core/config.hpp"
#include "bitale/graph/test_value.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/evaluate.hpp"

using namespace bitale;

namespace {

// Evaluated by the reference interpreter, which applies no rewrites.
Array value(const Variable& v, const Variables& inputs, const std::vector<Array>& at) {
  return evaluate(v, inputs, at);
}

}  // namespace

TEST_CASE("the gradient of a formula that overflows") {
  const Variable v = vector("v");
  const std::vector<Array> at = {Array{900., 899.}};
  CHECK(allclose(value(grad(log(sum(exp(v))), v), {v}, at), Array{0.7310585786300049, 0.2689414213699951}, 1e-15));
  const Variable p = exp(v) / sum(exp(v));
  CHECK(allclose(value(grad(sum(log(p) * Operand(Array{1., 0.}).variable), v), {v}, at),
                 Array{0.2689414213699951, -0.2689414213699951}, 1e-14));
}

TEST_CASE("forward and reverse are equally stable") {
  const Variable v = vector("v"), t = vector("t"), out = log(1 - sigmoid(v));
  const std::vector<Array> at = {Array{-800., 800.}, Array{1., 2.}};
  CHECK(allclose(value(pushforward({out}, {v}, {t})[0], {v, t}, at), Array{0., -2.}));
  CHECK(allclose(value(pullback({out}, {v}, {t})[0], {v, t}, at), Array{0., -2.}));
  const Variable x = vector("x");
  CHECK(allclose(value(jacobian(log(sum(exp(x))), x), {x}, {Array{900., 900.}}), Array{0.5, 0.5}));
  CHECK(allclose(value(hessian(log(sum(exp(x))), x), {x}, {Array{900., 900.}}), Array{{0.25, -0.25}, {-0.25, 0.25}}));
}

TEST_CASE("stabilize rules do not cross a variable with respect to which grad differentiates") {
  const Variable x = vector("x"), p = sigmoid(x), cost = sum(log(1 - p));
  const Variables g = grad(cost, {p, x});
  // With respect to p, the formula is log(1 - p), which rightly overflows where p is 1. Its gradient is in terms of p.
  CHECK(depends_on(g[0], {&p, 1}));
  CHECK(allclose(value(g[0], {p}, {Array{0.5, 0.75}}), Array{-2., -4.}));
  CHECK(allclose(value(grad(cost, x), {x}, {Array{800.}}), Array{-1.}));
}

TEST_CASE("ancestors of such a variable are stabilized, too") {
  const Variable x = vector("x"), y = log(sum(exp(x))), cost = sqr(y);
  const Variables g = grad(cost, {y, x});
  const std::vector<Array> at = {Array{900., 900.}};
  CHECK(depends_on(g[1], {&y, 1}));
  CHECK(allclose(value(g[1], {x, y}, {at[0], Array(3.)}), Array{3., 3.}));
}

TEST_CASE("stabilize rules do not cross variables with known gradients or considered constants") {
  const Variable x = vector("x"), p = sigmoid(x), g = vector("g"), cost = sum(log(1 - p));
  CHECK(allclose(value(grad(cost, x, {.known_grads = {{p, g}}}), {x, g}, {Array{0.}, Array{8.}}), Array{2.}));
  GradOptions options{.consider_constant = {p}};
  CHECK_THROWS_AS(grad(cost, x, options), DisconnectedInputError);
  const Variable both = sum(log(sigmoid(x)) + p * x);
  CHECK(allclose(value(grad(both, x, options), {x, p}, {Array{-800.}, Array{0.25}}), Array{1.25}));
}

TEST_CASE("the gradient of a shared intermediate result sums all its uses") {
  const Variable x = scalar("x"), p = sigmoid(x), cost = log(p) + 3 * p + log(1 - p) * p;
  const double at = 0.3, s = 1 / (1 + std::exp(-at));
  const double exact = (1 - s) + 3 * s * (1 - s) - s * s + std::log(1 - s) * s * (1 - s);
  CHECK(allclose(value(grad(cost, x), {x}, {Array(at)}), Array(exact), 1e-14));
  CHECK(allclose(value(pushforward({cost}, {x}, {Operand(1.).variable})[0], {x}, {Array(at)}), Array(exact), 1e-14));
}

TEST_CASE("an expression that needs no stable form is differentiated unchanged") {
  const Variable x = vector("x"), y = tanh(x), cost = sum(y * y);
  const Variable g = grad(cost, x);
  CHECK(depends_on(g, {&y, 1}));
  // Also next to an expression that needs one.
  const Variable z = sin(x), both = sum(z * z) + log(sum(exp(x)));
  CHECK(depends_on(grad(both, x), {&z, 1}));
}

TEST_CASE("gradient nodes keep the source locations of the user") {
  const Variable x = vector("x"), cost = log(sum(exp(x)));
  bool any = false;
  const Variable g = grad(cost, x);
  for (const Apply& node : toposort({&g, 1}))
    any |= node.provenance().rule &&
           std::string_view(node.provenance().rule).find("log_sum_exp") != std::string::npos &&
           node.provenance().where.str().find("stable_forms_test.cpp") != std::string::npos;
  CHECK(any);
}

TEST_CASE("gradients of stabilized expressions have test values") {
  const config::Change on("compute_test_value", "raise");
  const Variable x = vector("x");
  set_test_value(x, Array{900., 900.});
  const Variable g = grad(log(sum(exp(x))), x);
  REQUIRE(test_value(g));
  CHECK(allclose(*test_value(g), Array{0.5, 0.5}));
}

TEST_CASE("a chain of a million nodes with unstable expressions at both ends") {
  const Variable x = scalar("x");
  Variable out = log(1 - sigmoid(x));
  for (int i = 0; i < 1'000'000; ++i) out = sin(out);
  const Variable g = grad(log(1 - sigmoid(out)), x);
  CHECK(node_count({&g, 1}) >= 2'000'000);
}

TEST_CASE("a deep chain of unstable expressions") {
  const Variable x = scalar("x");
  Variable out = x;
  for (int i = 0; i < 20'000; ++i) out = log(1 + exp(out)) - 1;
  CHECK(node_count({&out, 1}) >= 80'000);
  const Variable g = grad(out, x), t = pushforward({out}, {x}, {x})[0];
  CHECK(allclose(value(g, {x}, {Array(1e6)}), Array(1.)));
  CHECK(allclose(value(t, {x}, {Array(1e6)}), Array(1e6)));
}
