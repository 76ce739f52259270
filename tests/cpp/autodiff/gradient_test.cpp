// grad, pullback, pushforward: values, options, and zero, disconnected and undefined gradients.
#include "bitale/autodiff/gradient.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <numeric>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/graph/function_graph.hpp"
#include "bitale/ops/complex.hpp"
#include "bitale/ops/ifelse.hpp"
#include "bitale/ops/known.hpp"
#include "bitale/ops/linalg.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/evaluate.hpp"

using namespace bitale;

namespace {

Array value(const Variable& v, const Variables& inputs = {}, const std::vector<Array>& at = {}) {
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

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// y = 2 x elementwise; it has a pushforward only if `forward` is true.
class Twice final : public Op {
 public:
  explicit Twice(bool forward) : forward(forward) {}
  bool forward;
  std::string_view name() const override { return "Twice"; }
  Attributes attributes() const override { return {{"forward", forward}}; }
  Apply make_node(std::span<const Variable> inputs) const override {
    return Apply(OpRef(this), {inputs[0]}, {inputs[0].type()});
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    out[0] = in[0].copy();
    for (std::int64_t i = 0; i < out[0].size(); ++i) out[0].mutable_data_as<double>()[i] *= 2;
  }
  Variables pullback(const Apply&, std::span<const Variable> g) const override { return {g[0] * 2.}; }
  Variables pushforward(const Apply&, std::span<const Variable> t) const override { return {t[0] * 2.}; }
  bool has_pushforward() const override { return forward; }
};
Variable twice(const Variable& x, bool forward = false) { return (*make_ref<Twice>(forward))({x}); }

// Two outputs, of which the second is an integer; the gradient with respect to the second input is undefined.
class Parts final : public Op {
 public:
  std::string_view name() const override { return "Parts"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    return Apply(OpRef(this), {inputs[0], inputs[1]}, {inputs[0].type(), tensor_type(DType::Int64, inputs[0].ndim())});
  }
  void perform(const Apply&, std::span<const Array>, std::span<Array>) const override {}
  Variables pullback(const Apply&, std::span<const Variable> g) const override {
    got_integer_cotangent |= !g[1].is_disconnected();
    return {g[0], undefined_gradient("no formula is known")};
  }
  mutable bool got_integer_cotangent = false;
};

}  // namespace

TEST_CASE("gradient of an expression") {
  Variable x = vector("x"), y = vector("y");
  Variable cost = sum(x * y + sqr(x));
  Variables g = grad(cost, {x, y});
  std::vector<Array> at = {Array{1., 2.}, Array{3., 4.}};
  CHECK(allclose(value(g[0], {x, y}, at), Array{5., 8.}));
  CHECK(allclose(value(g[1], {x, y}, at), Array{1., 2.}));
  CHECK(allclose(value(grad(cost, x), {x, y}, at), Array{5., 8.}));
}

TEST_CASE("gradient of a variable that is used several times or broadcast, and of the cost itself") {
  Variable x = scalar("x"), v = vector("v");
  Variable cost = sum(v * x) + x * x * x;
  CHECK(allclose(value(grad(cost, x), {x, v}, {Array(2.), Array{1., 2., 3.}}), Array(18.)));
  CHECK(allclose(value(grad(x, x), {x}, {Array(5.)}), Array(1.)));
  CHECK(allclose(value(grad(cost, cost), {x, v}, {Array(2.), Array{1.}}), Array(1.)));
}

TEST_CASE("both sides of a choice between complex numbers pass gradients on") {
  const Variable x = vector("x"), z = complex(x, 2 * x), condition = gt(sum(x), Operand(0));
  const Variable slope = grad(sum(sqr(real(ifelse(condition, z, 3 * z)))), x);
  CHECK(allclose(value(slope, {x}, {Array{1., 2.}}), Array{2., 4.}));
  CHECK(allclose(value(slope, {x}, {Array{-1., -2.}}), Array{-18., -36.}));
  // A side that is a complex zero has none.
  const Variable one_sided = grad(sum(sqr(imag(ifelse(condition, z, zeros_like(z))))), x);
  CHECK(allclose(value(one_sided, {x}, {Array{1., 2.}}), Array{8., 16.}));
  CHECK(allclose(value(one_sided, {x}, {Array{-1., -2.}}), Array{0., 0.}));
}

TEST_CASE("what is computed twice passes on the sum of its cotangents") {
  // The determinant by minors without sharing: every path to a minor would have derivatives of its own.
  constexpr int size = 6;
  const Variable a = matrix("a");
  std::function<Variable(int, std::vector<int>)> minor = [&](int row, std::vector<int> columns) {
    Variable total;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      std::vector<int> others = columns;
      others.erase(others.begin() + std::ptrdiff_t(i));
      Variable term = subtensor(a, {Operand(row), Operand(columns[i])});
      if (!others.empty()) term = term * minor(row + 1, others);
      total = !total.defined() ? term : i % 2 ? total - term : total + term;
    }
    return total;
  };
  std::vector<int> columns(size);
  std::iota(columns.begin(), columns.end(), 0);
  const Variable cost = minor(0, columns), gradient = grad(cost, a);
  const FunctionGraph graph({a}, {gradient});
  CHECK(graph.node_count() < 2000);  // with a path each: 10,000
  Array at = Array::zeros(DType::Float64, {size, size});
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j) at.mutable_data_as<double>()[i * size + j] = std::cos(7 * i + 3 * j * j) + (i == j);
  const Array expected = value(det(a) * transpose(inv(a)), {a}, {at});
  CHECK(allclose(value(gradient, {a}, {at}), expected));
}

TEST_CASE("equal variables that are named in a call, and copies, have gradients of their own") {
  const Variable x = vector("x"), y = exp(x), same = exp(x), cost = sum(y * same);
  const std::vector<Array> at = {Array{0.5}};
  CHECK(allclose(value(grad(cost, y), {x}, at), Array{std::exp(0.5)}));
  const Variables both = grad(cost, {y, same});
  CHECK(allclose(value(both[1], {x}, at), Array{std::exp(0.5)}));
  CHECK(allclose(value(grad(cost, x), {x}, at), Array{2 * std::exp(1.)}));
  GradOptions held;
  held.consider_constant = {same};
  CHECK(allclose(value(grad(cost, x, held), {x}, at), Array{std::exp(1.)}));
  // Those to which somebody has a handle may be named later: the slope is y * same + y * same, by `same` 2 y.
  const Variable unnamed = grad(cost, x);
  CHECK(allclose(value(grad(sum(unnamed), same), {x}, at), Array{2 * std::exp(0.5)}));
  const Variable first = tensor_copy(x), second = tensor_copy(x), slope = grad(sum(sin(first) + sin(second)), x);
  CHECK(allclose(value(grad(sum(slope), second), {x}, at), Array{-std::sin(0.5)}));
}

TEST_CASE("gradients of an intermediate variable and of its ancestor") {
  Variable x = vector("x"), y = exp(x), cost = sum(sqr(y));
  Variables g = grad(cost, {y, x});
  CHECK(allclose(value(g[0], {x}, {Array{0.}}), Array{2.}));
  CHECK(allclose(value(g[1], {x}, {Array{1.}}), Array{2 * std::exp(2.)}));
}

TEST_CASE("an invalid cost is refused") {
  Variable x = vector("x");
  CHECK_THROWS_AS(grad(x, x), TypeError);
  CHECK(has(message_of([&] { grad(x, x); }), "TensorType(float64, shape=(None,))"));
  CHECK_THROWS_AS(grad(lscalar("n"), x), TypeError);
  CHECK(has(message_of([&] { grad(lscalar("n"), x); }), "int64"));
  CHECK_THROWS_AS(grad(undefined_gradient("no reason"), x), NullTypeGradError);
  CHECK_THROWS_AS(grad(Variable(), x), ValueError);
  CHECK_THROWS_AS(grad(sum(x), Variable()), ValueError);
  CHECK_THROWS_AS(grad(sum(x), disconnected()), TypeError);
}

TEST_CASE("disconnected variables") {
  Variable x = vector("x"), z = vector("z"), cost = sum(x);
  std::string message = message_of([&] { grad(cost, z); });
  CHECK(has(message, "`z`"));
  CHECK_THROWS_AS(grad(cost, z), DisconnectedInputError);
  CHECK_THROWS_AS(grad(sum(disconnected_grad(x)), x), DisconnectedInputError);
  CHECK(allclose(value(grad(cost, z, {.disconnected_inputs = OnDisconnected::Ignore}), {z}, {Array{1., 2.}}),
                 Array{0., 0.}));
  CHECK_FALSE(
      grad(cost, z, {.disconnected_inputs = OnDisconnected::Ignore, .return_disconnected = ReturnDisconnected::None})
          .defined());
  CHECK(grad(cost, z,
             {.disconnected_inputs = OnDisconnected::Ignore, .return_disconnected = ReturnDisconnected::Disconnected})
            .is_disconnected());
  std::vector<std::string> warnings;
  GradOptions warn{.disconnected_inputs = OnDisconnected::Warn,
                   .warn = [&](const std::string& text) { warnings.push_back(text); }};
  Variables g = grad(cost, {x, z}, warn);
  CHECK(warnings.size() == 1);
  CHECK(has(warnings[0], "`z`"));
  CHECK(allclose(value(g[0], {x}, {Array{3.}}), Array{1.}));
}

TEST_CASE("integers have no derivative; if this is ignored, their gradient is zero in floatX") {
  Variable n = lvector("n"), x = vector("x"), b(tensor_type(DType::Bool, 1), "b");
  Variable cost = sum(x * n);
  CHECK_THROWS_AS(grad(cost, n), DisconnectedInputError);
  CHECK(has(message_of([&] { grad(cost, n); }), "an integer or bool has no derivative"));
  CHECK_THROWS_AS(grad(sum(switch_(b, x, 0.) * b), b), DisconnectedInputError);
  const GradOptions ignore{.disconnected_inputs = OnDisconnected::Ignore};
  CHECK_FALSE(
      grad(cost, n, {.disconnected_inputs = OnDisconnected::Ignore, .return_disconnected = ReturnDisconnected::None})
          .defined());
  Variables g = grad(cost, {x, n}, ignore);
  CHECK(g[1].dtype() == DType::Float64);
  std::vector<Array> at = {Array{1., 2.}, Array{std::int64_t(3), std::int64_t(4)}};
  CHECK(allclose(value(g[0], {x, n}, at), Array{3., 4.}));
  CHECK(allclose(value(g[1], {x, n}, at), Array{0., 0.}));
  config::Change change("floatX", "float32");
  CHECK(grad(cost, n, ignore).dtype() == DType::Float32);
}

TEST_CASE("gradients have the variable's dtype") {
  Variable x = fvector("x"), y = dvector("y");
  Variables g = grad(sum(x * y), {x, y});
  CHECK(g[0].dtype() == DType::Float32);
  CHECK(g[1].dtype() == DType::Float64);
}

TEST_CASE("errors about undefined gradients give the reason and the variable") {
  auto op = make_ref<Parts>();
  Variable x = vector("x"), y = vector("y"), z = vector("z");
  Variables inputs = {x, exp(y)};
  Apply parts = op->make_node(inputs);
  Variable cost = sum(parts.output(0) * z);
  CHECK(allclose(value(grad(cost, x), {parts.output(0), z}, {Array{1.}, Array{7.}}), Array{7.}));
  std::string message = message_of([&] { grad(cost, y); });
  CHECK_THROWS_AS(grad(cost, y), NullTypeGradError);
  CHECK(has(message, "`y`"));
  CHECK(has(message, "no formula is known"));
  CHECK(has(message, "Parts"));
  Variable null = grad(cost, y, {.null_gradients = OnNullGradient::Return});
  CHECK(null.is_null());
  CHECK_FALSE(op->got_integer_cotangent);
}

TEST_CASE("a path through an integer output is zero, not disconnected") {
  auto op = make_ref<Parts>();
  Variable x = vector("x"), y = vector("y");
  Variables inputs = {x, y};
  Apply parts = op->make_node(inputs);
  Variable cost = sum(parts.output(1) * exp(x));
  std::vector<Array> at = {Array{0., 1.}};
  Variable integers_only = sum(parts.output(1) * 1.5);
  CHECK(allclose(value(grad(integers_only, x), {x}, at), Array{0., 0.}));
  CHECK(allclose(value(grad(integers_only, y), {y}, at), Array{0., 0.}));
  CHECK(allclose(value(grad(cost, x), {x, parts.output(1)}, {at[0], Array{std::int64_t(1), std::int64_t(2)}}),
                 Array{1., 2 * std::exp(1.)}));
  CHECK_FALSE(op->got_integer_cotangent);
}

TEST_CASE("consider_constant") {
  Variable x = vector("x"), y = exp(x), cost = sum(y * x);
  GradOptions options{.consider_constant = {y}};
  CHECK(allclose(value(grad(cost, x, options), {x}, {Array{2.}}), Array{std::exp(2.)}));
  CHECK(allclose(value(grad(cost, y, options), {x}, {Array{2.}}), Array{2.}));
  CHECK_THROWS_AS(grad(sum(y), x, options), DisconnectedInputError);
}

TEST_CASE("known_grads") {
  Variable x = vector("x"), y = sqr(x), g = vector("g");
  GradOptions options{.known_grads = {{y, g}}};
  CHECK(allclose(value(grad({x}, options)[0], {x, g}, {Array{3.}, Array{10.}}), Array{60.}));
  // They replace the gradient that follows from the cost.
  CHECK(allclose(value(grad(sum(y), x, options), {x, g}, {Array{3.}, Array{10.}}), Array{60.}));
  CHECK_THROWS_AS(grad({x}, {.known_grads = {{y, scalar("s")}}}), TypeError);
  CHECK_THROWS_AS(grad(Variables{x}, GradOptions{}), ValueError);
}

TEST_CASE("names of gradients") {
  Variable x = vector("x"), cost = sum(sqr(x));
  cost.set_name("cost");
  CHECK(grad(cost, x).name() == "(dcost/dx)");
  CHECK(grad(cost, x, {.add_names = false}).name().empty());
}

TEST_CASE("gradient nodes have the source location of the call of grad") {
  Variable x = vector("x"), cost = sum(sqr(x));
  Variable g = grad(cost, x);
  CHECK(has(g.where().str(), "gradient_test.cpp"));
}

TEST_CASE("pullback sums the contributions of outputs that depend on each other") {
  Variable x = vector("x"), a = x * 2., b = a * 3., ca = vector("ca"), cb = vector("cb");
  Variable g = pullback({a, b}, {x}, {ca, cb})[0];
  CHECK(allclose(value(g, {x, ca, cb}, {Array{0.}, Array{1.}, Array{10.}}), Array{62.}));
  CHECK_THROWS_AS(pullback({a, b}, {x}, {ca}), ValueError);
  CHECK_THROWS_AS(pullback({a}, {x}, {matrix("m")}), TypeError);
  CHECK(allclose(value(Lop({a}, {x}, {ca})[0], {x, ca}, {Array{0.}, Array{5.}}), Array{10.}));
}

TEST_CASE("pushforward") {
  Variable x = vector("x"), y = vector("y"), tx = vector("tx"), ty = vector("ty");
  Variable out = x * y + exp(x);
  Variable t = pushforward({out}, {x, y}, {tx, ty})[0];
  std::vector<Array> at = {Array{0., 1.}, Array{3., 4.}, Array{1., 1.}, Array{10., 100.}};
  CHECK(allclose(value(t, {x, y, tx, ty}, at), Array{3. + 0. + 1., 4. + 100. + std::exp(1.)}));
  CHECK_THROWS_AS(pushforward({out}, {vector("z")}, {tx}), DisconnectedInputError);
  CHECK_THROWS_AS(pushforward({out}, {x}, {}), ValueError);
  CHECK_THROWS_AS(pushforward({out}, {x}, {scalar("s")}), TypeError);
  CHECK(allclose(value(Rop({out}, {y}, {ty})[0], {x, y, tx, ty}, at), Array{0., 100.}));
}

TEST_CASE("pushforward of an op without one, by two pullbacks") {
  Variable x = vector("x"), t = vector("t");
  for (bool forward : {true, false}) {
    Variable out = exp(twice(sqr(x), forward));
    Variable tangent = pushforward({out}, {x}, {t})[0];
    CHECK(allclose(value(tangent, {x, t}, {Array{1., 0.5}, Array{1., 10.}}),
                   Array{4 * std::exp(2.), 20 * std::exp(0.5)}));
  }
}

TEST_CASE("pushforward through integers and undefined derivatives") {
  auto op = make_ref<Parts>();
  Variable x = vector("x"), y = vector("y"), t = vector("t");
  Variables inputs = {x, y};
  Apply parts = op->make_node(inputs);
  CHECK(allclose(value(pushforward({parts.output(0)}, {x}, {t})[0], {x, t}, {Array{1.}, Array{4.}}), Array{4.}));
  Variable zero = pushforward({parts.output(1) * 1.5}, {x}, {t})[0];
  CHECK(allclose(value(zero, {parts.output(1)}, {Array{std::int64_t(3)}}), Array{0.}));
  CHECK_THROWS_AS(pushforward({parts.output(0)}, {y}, {t}), NullTypeGradError);
}

TEST_CASE("forward and reverse agree") {
  Variable x = vector("x"), u = vector("u"), v = vector("v");
  Variable out = log1p(exp(x * sum(x))) / (1. + sqr(x));
  Variable reverse = sum(pullback({out}, {x}, {u})[0] * v), forward = sum(pushforward({out}, {x}, {v})[0] * u);
  std::vector<Array> at = {Array{0.3, -1., 0.7}, Array{1., 2., 3.}, Array{-1., 0.5, 2.}};
  CHECK(allclose(value(reverse, {x, u, v}, at), value(forward, {x, u, v}, at), 1e-12));
}

TEST_CASE("subgraph_grad in two steps equals grad in one") {
  Variable x = vector("x"), w = vector("w"), hidden = sqr(x) * w, v = vector("v"), cost = sum(exp(hidden) * v);
  auto [later, ends] = subgraph_grad({v}, {hidden}, {}, cost);
  auto [earlier, none] = subgraph_grad({x, w}, {}, {{hidden, ends[0]}});
  Variables whole = grad(cost, {v, x, w});
  Variables parts = {later[0], earlier[0], earlier[1]};
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<Array> at = {Array{1., 2.}, Array{0.5, 0.1}, Array{3., 4.}};
    CHECK(allclose(value(parts[i], {x, w, v}, at), value(whole[i], {x, w, v}, at)));
  }
  CHECK_THROWS_AS(subgraph_grad({v}, {hidden}), ValueError);
}

TEST_CASE("option strings") {
  CHECK(parse_on_disconnected("warn") == OnDisconnected::Warn);
  CHECK(parse_return_disconnected("none") == ReturnDisconnected::None);
  CHECK(parse_on_null_gradient("return") == OnNullGradient::Return);
  CHECK(has(message_of([] { parse_on_disconnected("rise"); }), "'raise', 'warn', 'ignore'"));
}

TEST_CASE("a long chain is differentiated without recursion") {
  Variable x = scalar("x"), out = x;
  for (int i = 0; i < 100'000; ++i) out = sin(out);
  Variable g = grad(out, x), t = pushforward({out}, {x}, {x})[0];
  CHECK(node_count({&g, 1}) >= 200'000);
  const double at = 0.7;
  double derivative = 1, reached = at;
  for (int i = 0; i < 100'000; ++i) derivative *= std::cos(reached), reached = std::sin(reached);
  CHECK(allclose(value(g, {x}, {Array(at)}), Array(derivative), 1e-9, 0));
  CHECK(allclose(value(t, {x}, {Array(at)}), Array(at * derivative), 1e-9, 0));
}
