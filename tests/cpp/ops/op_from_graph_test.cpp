// OpFromGraph: inner graphs as attributes, the methods that follow from them, and overridden derivatives.
#include <doctest/doctest.h>

#include <cmath>

#include "bitale/bitale.hpp"
#include "bitale/graph/inner_graph.hpp"
#include "bitale/ops/registry.hpp"
#include "graph/evaluate.hpp"

using namespace bitale;

namespace {

FunctionOptions in_mode(const std::string& linker, std::string optimizer = "fast_run") {
  FunctionOptions options;
  options.mode = Mode(linker, std::move(optimizer));
  return options;
}

OpFromGraphOptions inlined(bool is_inline, std::string name = {}) {
  OpFromGraphOptions options;
  options.is_inline = is_inline;
  options.name = std::move(name);
  return options;
}

Variable only(const OpRef& op, const Operands& inputs) { return apply_op(op, inputs)[0]; }

std::string text_of(const Function& f) { return dprint(f.graph()); }

const std::vector<std::string> native_and_others{"jit", "vm", "c"};

}  // namespace

TEST_CASE("inner graphs are equal by structure, regardless of the names of variables") {
  const Variable x = vector("x"), y = vector("y"), a = vector("a"), b = vector("b");
  const auto g = make_ref<InnerGraph>(Variables{x, y}, Variables{exp(x) * y + 1.0});
  const auto same = make_ref<InnerGraph>(Variables{a, b}, Variables{exp(a) * b + 1.0});
  const auto swapped = make_ref<InnerGraph>(Variables{b, a}, Variables{exp(a) * b + 1.0});
  const auto other = make_ref<InnerGraph>(Variables{a, b}, Variables{exp(a) * b + 2.0});
  const auto wider = make_ref<InnerGraph>(Variables{a, b, x}, Variables{exp(a) * b + 1.0});
  CHECK(g->equals(*same));
  CHECK(g->hash() == same->hash());
  for (auto& each : {swapped, other, wider}) CHECK(!g->equals(*each));
  CHECK(g->text() == "graph(2 inputs, 4 nodes, 1 output)");
  CHECK(g->inputs()[0].name() == "x");
  CHECK(!g->inputs()[0].same_as(x));
  // Merged or not, it is the same graph.
  const Variable once = exp(x);
  const auto merged = make_ref<InnerGraph>(Variables{x}, Variables{once * once});
  const auto twice = make_ref<InnerGraph>(Variables{a}, Variables{exp(a) * exp(a)});
  CHECK(merged->hash() == twice->hash());
  CHECK(merged->equals(*twice));
}

TEST_CASE("every linker computes the op, inlined or not, and equal applications are merged") {
  const Variable x = vector("x"), y = vector("y");
  const Array u{1., 2., 3.}, v{4., 5., 6.};
  for (auto& linker : linker_names())
    for (const bool is_inline : {true, false})
      for (const std::string optimizer : {"fast_run", "fast_compile", "None"}) {
        CAPTURE(linker);
        CAPTURE(is_inline);
        CAPTURE(optimizer);
        const OpRef op = op_from_graph({x, y}, {x * y + 1.0, sum(x)}, inlined(is_inline));
        const OpRef equal = op_from_graph({y, x}, {y * x + 1.0, sum(y)}, inlined(is_inline));
        CHECK(op->equals(*equal));
        const Variables one = apply_op(op, {x, y}), two = apply_op(equal, {x, y}), swapped = apply_op(op, {y, x});
        const Function f = function({x, y}, {one[0] + two[0], one[1], swapped[1]}, in_mode(linker, optimizer));
        const Results out = f({u, v});
        CHECK(allclose(out[0], Array{10., 22., 38.}));
        CHECK(out[1].item() == 6);
        CHECK(out[2].item() == 15);
        int count = 0;
        for (auto& node : f.graph().toposort()) count += node.op().name() == "OpFromGraph";
        CHECK(count == (is_inline && optimizer != "None" ? 0 : 2));
      }
}

TEST_CASE("an inlined graph is stabilized and fused with its surroundings") {
  const Variable x = vector("x"), y = vector("y");
  const OpRef one_more = op_from_graph({x}, {1.0 + x});
  const Function f = function({y}, log(only(one_more, {exp(y) * 1e-30})), in_mode("jit"));
  CHECK(text_of(f).find("OpFromGraph") == std::string::npos);
  CHECK(allclose(f({Array{0.0}}), Array{1e-30}, 1e-9, 0));
  // A graph that is not inlined is rewritten, too, here by constant folding.
  const OpRef folded = op_from_graph({x}, {x * 1.0 + log(exp(constant(Array(2.0))))}, inlined(false));
  const Function g = function({y}, only(folded, {y}), in_mode("vm"));
  const auto order = g.graph().toposort();
  REQUIRE(order.size() == 1);
  CHECK(inner_graph_of(order[0].op())->node_count() <= 2);
  CHECK(allclose(g({Array{1., 2.}}), Array{3., 4.}));
}

TEST_CASE("chained applications use one rewritten inner graph") {
  const Variable x = vector("x");
  const OpRef op = op_from_graph({x}, {log(1.0 + exp(x)) * 1.0}, inlined(false));
  Variable out = x;
  for (int i = 0; i < 4; ++i) out = only(op, {out});
  int calls = 0;
  const Linker counting = vm_linker([&](NodeStep& step) { calls += step.node.op().name() == "OpFromGraph"; });
  FunctionOptions options;
  options.mode = Mode(counting, "fast_run");
  const Function f = function({x}, {out, grad(sum(out), x)}, options);
  const Array point{0.5, -0.5};
  const Results by_nodes = f({point}), native = function({x}, {out, grad(sum(out), x)})({point});
  CHECK(calls == 8);
  CHECK(allclose(by_nodes[0], native[0]));
  CHECK(allclose(by_nodes[1], native[1]));
  for (auto& node : f.graph().toposort())
    if (const InnerGraph* graph = inner_graph_of(node.op()))
      for (auto& inner : toposort(graph->outputs())) CHECK(inner.op().label() != "Log");
}

TEST_CASE("nested inner graphs") {
  const Variable x = vector("x");
  for (const bool is_inline : {true, false}) {
    Variable out = tanh(x) + 0.5;
    OpRef op;
    for (int level = 0; level < 6; ++level) {
      op = op_from_graph({x}, {out}, inlined(is_inline));
      out = only(op, {x}) * 0.5 + only(op, {x * 0.5});
    }
    CHECK(inner_graph_of(*op)->depth() == 6);
    const Array point{0.3, -0.2};
    const Array expected = evaluate(out, Variables{x}, std::vector<Array>{point});
    for (auto& linker : native_and_others) {
      CAPTURE(linker);
      CHECK(allclose(function({x}, out, in_mode(linker))({point}), expected));
      CHECK(allclose(function({x}, grad(sum(out), x), in_mode(linker))({point}),
                     evaluate(grad(sum(out), x), Variables{x}, std::vector<Array>{point})));
    }
    verify_grad([&](const Variables& in) { return sum(only(op, {in[0]})); }, {point});
  }
  OpRef op = op_from_graph({x}, {exp(x)});
  CHECK_THROWS_WITH_AS(
      [&] {
        for (int level = 0; level < 40; ++level) op = op_from_graph({x}, {only(op, {x})});
      }(),
      doctest::Contains("nested 33 deep"), ValueError);
}

TEST_CASE("derivatives of any order are those of the graph") {
  const Variable x = vector("x"), y = vector("y"), n = scalar("n", DType::Int64);
  const Array u{0.3, -0.7, 1.1}, v{0.2, 0.5, -0.4};
  for (const bool is_inline : {true, false}) {
    const OpRef op = op_from_graph({x, y}, {exp(x * y), sum(sin(x))}, inlined(is_inline, "layer"));
    const auto built = [&](const Variables& in) {
      const Variables out = apply_op(op, {in[0], in[1]});
      return sum(out[0]) * out[1];
    };
    verify_grad(built, {u, v});
    // Second order.
    verify_grad([&](const Variables& in) { return sum(sqr(grad(built(in), in[0]))) + sum(grad(built(in), in[1])); },
                {u, v});
    // Forward mode is that of the graph.
    const Variable cost = built({x, y}), plain = sum(exp(x * y)) * sum(sin(x));
    const Variables tangents{y, x};
    const Array by_op = function({x, y}, pushforward({cost}, {x, y}, tangents)[0])({u, v});
    const Array by_graph = function({x, y}, pushforward({plain}, {x, y}, tangents)[0])({u, v});
    CHECK(allclose(by_op, by_graph));
    // A derivative is a separate op, created once.
    const Variables first = apply_op(op, {x, y}), second = apply_op(op, {y, x});
    const Variable a = grad(sum(first[0]), x), b = grad(sum(second[0]), y);
    CHECK(a.owner().op_ref() == b.owner().op_ref());
    CHECK(a.owner().op().label() == cat("pullback of layer{inline=", is_inline ? "True" : "False", "}"));
  }
  // An output that doesn't depend on an input is not connected to it; an integer has no derivative.
  const OpRef parts = op_from_graph({x, y, n}, {exp(x), y * n});
  const Variables out = apply_op(parts, {x, y, n});
  CHECK_THROWS_AS(grad(sum(out[0]), y), DisconnectedInputError);
  CHECK(allclose(function({x, y, n}, grad(sum(out[1]), y),
                          [] {
                            auto o = FunctionOptions();
                            o.on_unused_input = OnUnusedInput::Ignore;
                            return o;
                          }())({u, v, 3}),
                 Array{3., 3., 3.}));
}

TEST_CASE("overridden derivatives") {
  const Variable x = vector("x");
  const Array u{-1.5, 0.5, 2.};
  const auto straight_through = derivative_override(
      [](const Variables&, const Variables&, const Variables& given) { return Variables{given[0] * 3.0}; });
  for (const bool is_inline : {true, false}) {
    OpFromGraphOptions options = inlined(is_inline, "step");
    options.pullback = straight_through;
    const OpRef step = op_from_graph({x}, {cast(x > 0.0, DType::Float64)}, options);
    for (auto& linker : native_and_others) {
      CAPTURE(linker);
      const Variable y = only(step, {x * 2.0});
      CHECK(allclose(function({x}, y, in_mode(linker))({u}), Array{0., 1., 1.}));
      CHECK(allclose(function({x}, grad(sum(y), x), in_mode(linker))({u}), Array{6., 6., 6.}));
      // Forward mode, by transposition of the pullback.
      const Variable tangent = pushforward({y}, {x}, {ones_like(x)})[0];
      CHECK(allclose(function({x}, tangent, in_mode(linker))({u}), Array{6., 6., 6.}));
    }
    // Ops are equal only if they have the same override.
    CHECK(step->equals(*op_from_graph({x}, {cast(x > 0.0, DType::Float64)}, options)));
    OpFromGraphOptions other = options;
    other.pullback = derivative_override(
        [](const Variables&, const Variables&, const Variables& given) { return Variables{given[0]}; });
    CHECK(!step->equals(*op_from_graph({x}, {cast(x > 0.0, DType::Float64)}, other)));
    // Batching preserves the override.
    const Variable m = matrix("m"), batch = vectorize_graph({only(step, {x})}, {{x, m}})[0];
    const Array points = Array{-1., 1., 2., 3.}.reshape({2, 2});
    CHECK(allclose(function({m}, grad(sum(batch), m))({points}), Array{3., 3., 3., 3.}.reshape({2, 2})));
  }
  OpFromGraphOptions forward = inlined(true);
  forward.pushforward = derivative_override(
      [](const Variables& in, const Variables&, const Variables& given) { return Variables{given[0] * in[0] * 10.0}; });
  const OpRef square = op_from_graph({x}, {sqr(x)}, forward);
  const Variable y = only(square, {x});
  CHECK(allclose(function({x}, pushforward({y}, {x}, {ones_like(x)})[0])({u}), Array{-15., 5., 20.}));
  CHECK(allclose(function({x}, grad(sum(y), x))({u}), Array{-3., 1., 4.}));
}

TEST_CASE("batches: inputs without a batch, outputs that do not depend on the batch, and overrides") {
  const Variable x = vector("x"), w = vector("w"), m = matrix("m");
  const Array rows = Array{1., 2., 3., 4., 5., 6.}.reshape({2, 3}), weights{0.5, -1., 2.};
  OpFromGraphOptions overridden = inlined(false, "weighted");
  overridden.pullback = derivative_override([](const Variables& in, const Variables&, const Variables& given) {
    return Variables{given[0] * in[1], given[0] * in[0]};
  });
  for (auto& options : {inlined(false), overridden}) {
    const OpRef op = op_from_graph({x, w}, {sum(x * w)}, options);
    const Variable batch = vectorize_graph({only(op, {x, w})}, {{x, m}})[0];
    CHECK(allclose(function({m, w}, batch)({rows, weights}), Array{4.5, 9.}));
    CHECK(allclose(function({m, w}, grad(sum(batch), w))({rows, weights}), Array{5., 7., 9.}));
  }
  const OpRef parts = op_from_graph({x, w}, {exp(w), x + w}, inlined(false));
  const Variables batch = vectorize_graph(apply_op(parts, {x, w}), {{x, m}});
  CHECK(batch[0].ndim() == 2);
  const Array repeated = function({m, w}, batch[0])({rows, weights});
  CHECK(repeated.shape() == Dims{2, 3});
}

TEST_CASE("lengths are inferred through the graph, which is not computed for them") {
  const Variable x = vector("x"), m = matrix("m"), n = scalar("n", DType::Int64);
  const OpRef op =
      op_from_graph({x, m, n}, {concatenate({x, x}), transpose(m), alloc(1.0, {n, shape_i(x, 0)})}, inlined(false));
  const Variables out = apply_op(op, {x, m, n});
  FunctionOptions options;
  options.on_unused_input = OnUnusedInput::Ignore;
  const Function f = function({x, m, n}, {shape(out[0]), shape(out[1]), shape(out[2])}, options);
  CHECK(text_of(f).find("OpFromGraph") == std::string::npos);
  const Results got = f({Array{1., 2., 3.}, Array::zeros(DType::Float64, {4, 5}), std::int64_t(7)});
  CHECK(identical(got[0], Array{std::int64_t(6)}));
  CHECK(identical(got[1], Array{std::int64_t(5), std::int64_t(4)}));
  CHECK(identical(got[2], Array{std::int64_t(7), std::int64_t(3)}));
  const OpRef unknown = op_from_graph({x}, {nonzero(x)[0]}, inlined(false));
  for (auto& linker : native_and_others) {
    CAPTURE(linker);
    const Function g = function({x}, shape(only(unknown, {x})), in_mode(linker));
    CHECK(identical(g({Array{1., 0., 3.}}), Array{std::int64_t(2)}));
  }
}

TEST_CASE("a long inner graph needs no recursion") {
  const Variable x = scalar("x");
  constexpr int length = 1000000;
  Variable chain = x;
  for (int i = 0; i < length; ++i) chain = i % 2 ? chain + 1.0 : chain - 1.0;
  const OpRef op = op_from_graph({x}, {chain}, inlined(false));
  const OpRef equal = op_from_graph({x}, {chain}, inlined(false));
  CHECK(inner_graph_of(*op)->node_count() == length);
  CHECK(op->equals(*equal));
  const Variable y = only(op, {x});
  CHECK(evaluate(y, Variables{x}, std::vector<Array>{Array(2.0)}).item() == 2);
  FunctionOptions plain = in_mode("vm", "None");
  CHECK(function({x}, y, plain)({2.0}).item() == 2);
  CHECK(y.owner().op().connection_pattern(y.owner())[0][0]);
}

TEST_CASE("an inner graph that captures a variable, and other invalid arguments") {
  const Variable x = vector("x"), y = vector("y"), s = shared(Array{1., 2.}, "s"), m = matrix("m");
  using doctest::Contains;
  CHECK_THROWS_WITH_AS(op_from_graph({x}, {x + y}, inlined(true, "f")), Contains("`y`"), MissingInputError);
  CHECK_THROWS_WITH_AS(op_from_graph({x}, {x + y}, inlined(true, "f")), Contains("op_from_graph_test"),
                       MissingInputError);
  CHECK_THROWS_WITH_AS(op_from_graph({x}, {x + s}), Contains("the shared variable `s`"), MissingInputError);
  CHECK_THROWS_WITH_AS(op_from_graph({x, x}, {x}), Contains("twice"), ValueError);
  CHECK_THROWS_WITH_AS(op_from_graph({constant(Array(1.0))}, {x}), Contains("constant"), TypeError);
  CHECK_THROWS_WITH_AS(op_from_graph({x}, {}), Contains("at least one output"), ValueError);
  CHECK_THROWS_WITH_AS(op_from_graph({x, Variable()}, {x}), Contains("input 1 is null"), ValueError);
  // A shared variable, or a computed one, may be an input.
  const OpRef with_shared = op_from_graph({x, s}, {x + s});
  CHECK(allclose(function({x}, only(with_shared, {x, s}))({Array{1., 1.}}), Array{2., 3.}));
  const Variable e = exp(x);
  CHECK(allclose(function({x}, only(op_from_graph({e}, {e * 2.0}), {x}))({Array{1., 2.}}), Array{2., 4.}));

  const OpRef op = op_from_graph({x, y}, {x + y}, inlined(true, "add_up"));
  CHECK_THROWS_WITH_AS(apply_op(op, {x}), Contains("OpFromGraph `add_up`: expected 2 inputs, got 1"), TypeError);
  CHECK_THROWS_WITH_AS(apply_op(op, {x, m}), Contains("input 1, `m`, has another number of dimensions"), TypeError);
  CHECK_THROWS_WITH_AS(apply_op(op, {x, vector("i", DType::Int32)}), Contains("input 1, `i`, has another dtype"),
                       TypeError);
  const Variable three(tensor_type(DType::Float64, Dims{3}), "three"),
      four(tensor_type(DType::Float64, Dims{4}), "four");
  const OpRef of_three = op_from_graph({three}, {three * 2.0});
  CHECK_THROWS_WITH_AS(apply_op(of_three, {four}), Contains("another length of dimension 0"), TypeError);
  // An unknown length is checked at run time.
  const Function checked = function({x}, only(of_three, {x}));
  CHECK(allclose(checked({Array{1., 2., 3.}}), Array{2., 4., 6.}));
  CHECK_THROWS_AS(checked({Array{1., 2.}}), ShapeError);

  OpFromGraphOptions wrong = inlined(true, "wrong");
  wrong.pullback = derivative_override([](const Variables&, const Variables&, const Variables& given) {
    return Variables{given[0], given[0]};
  });
  CHECK_THROWS_WITH_AS(grad(sum(only(op_from_graph({x}, {exp(x)}, wrong), {x})), x),
                       Contains("its pullback override gave 2 results, expected 1"), ValueError);
  wrong.pullback = derivative_override(
      [](const Variables&, const Variables&, const Variables& given) { return Variables{sum(given[0])}; });
  CHECK_THROWS_WITH_AS(grad(sum(only(op_from_graph({x}, {exp(x)}, wrong), {x})), x),
                       Contains("result 0 of its pullback override has the type"), TypeError);
}

TEST_CASE("an error inside names the inner node and the line of the op") {
  const Variable x = vector("x"), y = vector("y");
  for (auto& linker : native_and_others) {
    CAPTURE(linker);
    const OpRef op = op_from_graph({x, y}, {exp(x) + y}, inlined(false, "adds"));
    const Function f = function({x, y}, only(op, {x, y}), in_mode(linker));
    CHECK_THROWS_WITH_AS(f({Array{1., 2.}, Array{1., 2., 3.}}), doctest::Contains("op_from_graph_test"), ShapeError);
  }
}

TEST_CASE("FormulaOp") {
  const FormulaOp soft_clip([](const Variables& in) { return tanh(in[0] / 2) * 2; }, {.name = "SoftClip"});
  const Variable x = vector("x"), m = matrix("m");
  const Variable y = soft_clip({x});
  CHECK(dprint(y).find("SoftClip") != std::string::npos);
  CHECK(y.owner().op().equals(soft_clip({x}).owner().op()));
  CHECK(soft_clip({m}).ndim() == 2);
  const Function f = function({x}, {y, grad(sum(y), x)});
  CHECK(f.dprint().find("SoftClip") == std::string::npos);
  const Results values = f({Array{0.0, 1.0}});
  CHECK(allclose(values[0], Array{0.0, 2 * std::tanh(0.5)}));
  CHECK(allclose(values[1], Array{1.0, 1 / std::pow(std::cosh(0.5), 2)}));

  const FormulaOp both([](const Variables& in) { return Variables{in[0] + in[1], in[0] - in[1]}; }, {.name = "Both"});
  CHECK(function({x}, both.outputs({x, 1.0}))({Array{3.0}})[1].item() == 2);
  CHECK_THROWS_AS(both({x, 1.0}), ValueError);
  const Variable other = vector("other");
  CHECK_THROWS_AS(FormulaOp([&](const Variables& in) { return in[0] + other; })({x}), MissingInputError);
}
