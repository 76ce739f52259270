// Jacobians, Hessians, batches of graphs, and the check against finite differences.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "bitale/autodiff/gradient.hpp"
#include "bitale/compile/function.hpp"
#include "bitale/core/error.hpp"
#include "bitale/ops/gradient_control.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/evaluate.hpp"

using namespace bitale;

namespace {

Array value(const Variable& v, const Variables& inputs, const std::vector<Array>& at) {
  return evaluate(v, inputs, at);
}

std::string message_of(auto&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

class NoBatch final : public Op {
 public:
  std::string_view name() const override { return "NoBatch"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    return Apply(OpRef(this), {inputs[0]}, {inputs[0].type()});
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override { out[0] = in[0]; }
  Variables pullback(const Apply&, std::span<const Variable> g) const override {
    return {(*make_ref<NoBatch>())({g[0]})};
  }
};

}  // namespace

TEST_CASE("jacobian of a vector with respect to a vector") {
  Variable x = vector("x"), y = sqr(x) * sum(x);
  Array j = value(jacobian(y, x), {x}, {Array{1., 2.}});
  CHECK(allclose(j, Array{{7., 1.}, {4., 16.}}));
}

TEST_CASE("a Jacobian with far fewer columns than rows takes a batch of tangents") {
  // The nodes whose first result has this many rows tell the batch apart: of tangents, of the variable's length.
  const auto longest = [](const Variable& expression, const Variable& wrt) {
    std::int64_t length = 0;
    for (const Apply& node : toposort(std::array{jacobian(expression, wrt)}))
      for (const Variable& output : node.outputs())
        if (output.ndim() == 3) length = std::max(length, output.static_shape()[0]);
    return length;
  };
  const Variable p = tensor("p", DType::Float64, {2}), q = tensor("q", DType::Float64, {20, 3});
  const Variable wave = exp(q * subtensor(p, {0})) * subtensor(p, {1});
  CHECK(longest(wave, p) == 20);  // no [60, 20, 3] cotangents, and a result of [20, 3, 2]
  CHECK(longest(flatten(wave), q) == 60);
  const Variable of_any_length = tensor("q", DType::Float64, {unknown_length, 3});
  CHECK(longest(exp(of_any_length * subtensor(p, {0})), p) != 20);

  const Array at = Array{0.5, -2.}, points = evaluate(sin(reshape(arange(60), {20, 3})), {}, {});
  for (const Variable& y : {wave, Variable(sum(wave, {{1}})), Variable(dot(wave, constant(Array{1., 2., 3.})))})
    CHECK(allclose(value(jacobian(y, p), {p, q}, {at, points}), value(jacfwd(y, p), {p, q}, {at, points}), 1e-12));
  // Several variables, which are too many columns together; and what is held constant stays so.
  const Variables both = jacobian(flatten(wave), {p, q});
  CHECK(value(both[0], {p, q}, {at, points}).shape() == Dims{60, 2});
  CHECK(value(both[1], {p, q}, {at, points}).shape() == Dims{60, 20, 3});
  const Variable half = sqr(subtensor(p, {0})), y = half * flatten(q) * subtensor(p, {0});
  const Array held = value(jacobian(y, p, {.consider_constant = {half}}), {p, q}, {at, points});
  CHECK(held.at(std::array<std::int64_t, 2>{1, 0}) == doctest::Approx(0.25 * std::sin(1.)));
}

TEST_CASE("calls decide how a Jacobian of unknown lengths is computed") {
  const Variable t = vector("t"), p = vector("p"), m = matrix("m");
  const FunctionOptions plain{.mode = Mode("vm", "None"), .on_unused_input = OnUnusedInput::Ignore};
  const Variable wave = sin(expand_dims(t, 1) * p), y = sum(wave, 1) * exp(p[0]) * t;
  const auto f = function({t, p}, jacobian(y, p), plain), expected = function({t, p}, jacfwd(y, p), plain);
  for (const std::int64_t n : {0, 1, 2, 3, 4, 5, 40})
    for (const std::int64_t k : {1, 2, 3, 20}) {
      const Array at = Array::full(DType::Float64, {n}, 0.25), parameters = Array::full(DType::Float64, {k}, 0.5);
      CHECK(allclose(f(at, parameters), expected(at, parameters), 1e-12, 1e-15));
    }
  // Several variables, and dimensions.
  const auto g = function({m, p}, jacobian(dot(m, p) * p[0], {p, m}), plain);
  const Results matrices = g(Array{{1., 2.}, {3., 4.}, {5., 6.}}, Array{2., 3.});
  CHECK(matrices[0].shape() == Dims{3, 2});
  CHECK(matrices[1].shape() == Dims{3, 3, 2});
  CHECK(matrices[0].at({1, 0}) == 3. * 2 * 2 + 4. * 3);
  CHECK(matrices[1].at({2, 2, 1}) == 3. * 2);

  // The graph has both modes, unless the expression is as long as the variable, or which is better is known.
  const auto has_choice = [](const Variable& v) {
    const std::vector<Apply> nodes = toposort(std::array{v});
    return std::any_of(nodes.begin(), nodes.end(), [](const Apply& node) { return node.op().name() == "IfElse"; });
  };
  const Variable few = tensor("few", DType::Float64, {3});
  CHECK(has_choice(jacobian(y, p)));
  CHECK(!has_choice(jacobian(sin(p), p)));
  CHECK(!has_choice(hessian(sum(exp(p) * sum(sqr(p))), p)));
  CHECK(!has_choice(jacobian(sum(sin(expand_dims(t, 1) * few), 1), few)));
}

TEST_CASE("a Jacobian by many variables takes one sweep over the graph") {
  Variables wrt;
  Variable total = tensor("q", DType::Float64, {1000});
  for (int i = 0; i < 50; ++i) {
    wrt.push_back(tensor("s", DType::Float64, {}));
    total = sin(total + wrt.back());
  }
  const std::size_t by_one = toposort(jacobian(total, Variables{wrt.back()})).size();
  CHECK(toposort(jacobian(total, wrt)).size() < 10 * by_one);
}

TEST_CASE("a Jacobian stays one of reverse mode where a pullback is declared to be more than the derivative") {
  const Variable p = tensor("p", DType::Float64, {1}), q = tensor("q", DType::Float64, {10});
  const Variable y = q * grad_clip(p, -0.5, 0.5);
  const Array clipped = value(jacobian(y, p), {p, q}, {Array{1.}, Array::full(DType::Float64, {10}, 3.)});
  CHECK(clipped.at(std::array<std::int64_t, 2>{4, 0}) == 0.5);
}

TEST_CASE("a Jacobian keeps its errors where it has few columns") {
  const Variable p = tensor("p", DType::Float64, {1}), q = tensor("q", DType::Float64, {10});
  CHECK_THROWS_AS(jacobian(sqr(q), p), DisconnectedInputError);
  CHECK(value(jacobian(sqr(q), p, {.disconnected_inputs = OnDisconnected::Ignore}), {p, q},
              {Array{1.}, Array::zeros(DType::Float64, {10})})
            .shape() == Dims{10, 1});
}

TEST_CASE("jacobians with respect to matrices and scalars, and of scalars and matrices") {
  Variable x = vector("x"), m = matrix("m"), s = scalar("s");
  Variable y = dot(m, x) * s;
  std::vector<Array> at = {Array{1., 2.}, Array{{1., 0.}, {3., 4.}, {5., 6.}}, Array(2.)};
  Variables inputs = {x, m, s};
  Variables j = jacobian(y, {x, m, s});
  CHECK(allclose(value(j[0], inputs, at), Array{{2., 0.}, {6., 8.}, {10., 12.}}));
  Array by_matrix = value(j[1], inputs, at);
  CHECK(by_matrix.shape() == Dims{3, 3, 2});
  CHECK(by_matrix.at(std::array<std::int64_t, 3>{1, 1, 0}) == 2.);
  CHECK(by_matrix.at(std::array<std::int64_t, 3>{1, 1, 1}) == 4.);
  CHECK(by_matrix.at(std::array<std::int64_t, 3>{1, 0, 1}) == 0.);
  CHECK(allclose(value(j[2], inputs, at), Array{1., 11., 17.}));
  CHECK(allclose(value(jacobian(sum(y), x), inputs, at), Array{18., 20.}));
  Array of_matrix = value(jacobian(m * s, s), inputs, at);
  CHECK(allclose(of_matrix, at[1]));
  CHECK(value(jacobian(m * s, m), inputs, at).shape() == Dims{3, 2, 3, 2});
}

TEST_CASE("jacobian agrees with rows of pullbacks") {
  Variable x = vector("x"), u = vector("u");
  Variable y = softmax(tanh(x) * logsumexp(x));
  Array at{0.3, -0.2, 0.9}, j = value(jacobian(y, x), {x}, {at});
  Variable row = pullback({y}, {x}, {u})[0];
  for (std::int64_t i = 0; i < 3; ++i) {
    Array unit = Array::zeros(DType::Float64, Dims{3});
    unit.mutable_data_as<double>()[i] = 1;
    CHECK(allclose(j.take_index(0, i), value(row, {x, u}, {at, unit}), 1e-12, 1e-15));
  }
}

TEST_CASE("jacobian of linear and disconnected functions, and of inputs of static or zero length") {
  Variable x = vector("x"), z = vector("z");
  CHECK(allclose(value(jacobian(x * 2., x), {x}, {Array{1., 2.}}), Array{{2., 0.}, {0., 2.}}));
  CHECK(allclose(value(jacobian(x, x), {x}, {Array{1., 2.}}), Array{{1., 0.}, {0., 1.}}));
  GradOptions ignore{.disconnected_inputs = OnDisconnected::Ignore};
  CHECK(allclose(value(jacobian(x, z, ignore), {x, z}, {Array{1., 2.}, Array{1., 2., 3.}}),
                 Array{{0., 0., 0.}, {0., 0., 0.}}));
  CHECK_THROWS_AS(jacobian(x, z), DisconnectedInputError);
  CHECK_THROWS_AS(jacobian(lvector("n"), x), TypeError);
  Variable fixed = tensor("f", DType::Float64, {3}), one = tensor("o", DType::Float64, {1});
  CHECK(allclose(value(jacobian(sqr(fixed), fixed), {fixed}, {Array{1., 2., 3.}}),
                 Array{{2., 0., 0.}, {0., 4., 0.}, {0., 0., 6.}}));
  CHECK(allclose(value(jacobian(one * x, one), {one, x}, {Array{2.}, Array{3., 4.}}), Array{{3.}, {4.}}));
  CHECK(allclose(value(jacobian(sqr(one), one), {one}, {Array{2.}}), Array{{4.}}));
  CHECK(value(jacobian(sqr(x), x), {x}, {Array::zeros(DType::Float64, Dims{0})}).shape() == Dims{0, 0});
}

TEST_CASE("products of an op that does not support batches are taken in a loop") {
  Variable x = vector("x"), y = (*make_ref<NoBatch>())({sqr(x)});
  CHECK(allclose(value(jacobian(y, x), {x}, {Array{1., 2.}}), Array{{2., 0.}, {0., 4.}}));
}

TEST_CASE("hessian") {
  Variable x = vector("x"), cost = sum(x * x * x) + prod(x);
  Array at{2., 3.};
  CHECK(allclose(value(hessian(cost, x), {x}, {at}), Array{{12., 1.}, {1., 18.}}));
  Variable s = scalar("s");
  CHECK(allclose(value(hessian(exp(2. * s), s), {s}, {Array(1.)}), Array(4 * std::exp(2.))));
  CHECK(allclose(value(hessian(sum(x), x), {x}, {at}), Array{{0., 0.}, {0., 0.}}));
  CHECK_THROWS_AS(hessian(sum(sqr(matrix("m"))), matrix("m")), ValueError);
  CHECK_THROWS_AS(hessian(x, x), TypeError);
}

TEST_CASE("hessian-vector products") {
  Variable x = vector("x"), y = scalar("y"), p = vector("p"), q = scalar("q");
  Variable cost = sum(exp(x) * y) + y * y * sum(x);
  Variables hp = hessian_vector_product(cost, {x, y}, {p, q});
  double x0 = 0.5, y0 = 2, p0 = 3, q0 = 5;
  std::vector<Array> at = {Array{x0}, Array(y0), Array{p0}, Array(q0)};
  CHECK(allclose(value(hp[0], {x, y, p, q}, at), Array{std::exp(x0) * y0 * p0 + (std::exp(x0) + 2 * y0) * q0}));
  CHECK(allclose(value(hp[1], {x, y, p, q}, at), Array((std::exp(x0) + 2 * y0) * p0 + 2 * x0 * q0)));
  CHECK_THROWS_AS(hessian_vector_product(cost, {x, y}, {p}), ValueError);
}

TEST_CASE("vectorize_graph computes the same as a loop over the batch") {
  Variable x = vector("x"), w = matrix("w"), s = scalar("s");
  Variable out = sum(tanh(dot(w, x)) * s) + max(x);
  Variable xs = matrix("xs"), ss = vector("ss");
  Array x_values{{1., 2.}, {-0.5, 0.3}, {0.1, 0.2}}, s_values{1., 2., 3.}, w_value{{0.1, 0.2}, {0.3, -0.4}};
  Variable batch = vectorize_graph({out}, {{x, xs}, {s, ss}})[0];
  Array all = value(batch, {xs, w, ss}, {x_values, w_value, s_values});
  CHECK(all.shape() == Dims{3});
  for (std::int64_t i = 0; i < 3; ++i)
    CHECK(allclose(all.take_index(0, i),
                   value(out, {x, w, s}, {x_values.take_index(0, i), w_value, s_values.take_index(0, i)}), 1e-12));
  SUBCASE("only some inputs") {
    Array only = value(vectorize_graph({out}, {{x, xs}})[0], {xs, w, s}, {x_values, w_value, Array(2.)});
    CHECK(
        allclose(only.take_index(0, 1), value(out, {x, w, s}, {x_values.take_index(0, 1), w_value, Array(2.)}), 1e-12));
  }
  SUBCASE("different numbers of batch dimensions") {
    Variable xss = tensor3("xss");
    Variable both = vectorize_graph({sum(x * s)}, {{x, xss}, {s, ss}})[0];
    CHECK(both.ndim() == 2);
    Array three = Array::full(DType::Float64, Dims{2, 3, 4}, 1.);
    CHECK(allclose(value(both, {xss, ss}, {three, s_values}), Array{{4., 8., 12.}, {4., 8., 12.}}));
  }
  SUBCASE("a graph that does not depend on the batch is returned unchanged") {
    Variable constant_part = exp(w);
    CHECK(vectorize_graph({constant_part}, {{x, xs}})[0].same_as(constant_part));
  }
  CHECK_THROWS_AS(vectorize_graph({out}, {{x, s}}), TypeError);
  CHECK_THROWS_AS(vectorize_graph({out}, {{x, lmatrix("n")}}), TypeError);
}

TEST_CASE("verify_grad accepts correct gradients") {
  verify_grad([](const Variables& in) { return tanh(in[0] * in[1]); }, {Array{0.1, 2.}, Array{3., -1.}});
  verify_grad([](const Variables& in) { return dot(in[0], in[1]); }, {Array{{1., 2.}, {3., 4.}}, Array{5., 6.}});
  verify_grad([](const Variables& in) { return in[0] * in[1]; }, {Array{{1.f}, {2.f}}, Array{{3.f, 4.f}}});
}

TEST_CASE("verify_grad finds wrong gradients") {
  auto wrong = [](const Variables& in) { return sum(sqr(in[0]) * zero_grad(in[0])); };
  CHECK_THROWS_AS(verify_grad(wrong, {Array{1., 2.}}), GradientError);
  std::string message = message_of([&] { verify_grad(wrong, {Array{1., 2.}}); });
  CHECK(message.find("argument 0") != std::string::npos);
  CHECK_THROWS_AS(verify_grad([](const Variables& in) { return disconnected_grad(in[0]); }, {Array{1.}}),
                  GradientError);
  CHECK_THROWS_AS(verify_grad(wrong, {Array{1, 2}}), TypeError);
  CHECK_THROWS_AS(verify_grad([](const Variables& in) { return eq(in[0], 1.); }, {Array{1.}}), TypeError);
  auto nan = [](const Variables& in) { return log(in[0]); };
  CHECK_THROWS_AS(verify_grad(nan, {Array{-1.}}), GradientError);
}

TEST_CASE("verify_grad uses the given evaluation function") {
  int calls = 0;
  VerifyGradOptions options;
  options.evaluate = [&](const Variables& outputs, const Variables& inputs, const std::vector<Array>& values) {
    ++calls;
    return evaluate(outputs, inputs, values);
  };
  verify_grad([](const Variables& in) { return exp(in[0]); }, {Array{1., 2.}}, options);
  CHECK(calls > 4);
}
