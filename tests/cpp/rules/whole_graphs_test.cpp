// Whole graphs, handwritten and random: the values before and after all rules agree where the original is finite.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "bitale/autodiff/gradient.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/rewriting/rewriting.hpp"
#include "graph/evaluate.hpp"
#include "ops/reductions/reduce.hpp"
#include "rewriting/engine.hpp"
#include "support/graph_comparison.hpp"
#include "support/seeds.hpp"
#include "support/shrink.hpp"

using namespace bitale;

namespace {

using Axis = std::vector<int>;

// Both agree wherever `before` is finite; elsewhere rules may have better values.
bool agrees(const Array& before, const Array& after, double tolerance) {
  if (before.dtype() != after.dtype() || !(before.shape() == after.shape())) return false;
  const Array a = before.astype(DType::Float64).contiguous(), b = after.astype(DType::Float64).contiguous();
  for (std::int64_t k = 0; k < a.size(); ++k) {
    const double x = a.data_as<double>()[k], y = b.data_as<double>()[k];
    if (std::isfinite(x) && !(std::abs(x - y) <= tolerance * std::max(1.0, std::abs(x)))) return false;
  }
  return true;
}

// Whether rounding in the graph as built explains the difference of `actual`: a constant of float32 makes a part of a
// graph of float64 less accurate than the tolerance. The graph as built is no reference, either, where an intermediate
// result is infinite or nan, even if its result is not: 1 / log(erfc(35)) is -0, as erfc underflows, and -0.0008 after
// the rules.
bool agrees_up_to_rounding(const test::Case& graph, const std::vector<Array>& actual) {
  const test::Reference reference = test::reference(graph);
  return !reference.is_finite || test::difference(graph, actual, reference.results).empty();
}

constexpr const char* optimizers[] = {"fast_run", "fast_compile", "stabilize", "o1", "o2", "o3", "None"};

// The failure with this optimizer, or nothing. Throws if the graph can't be evaluated as built.
std::string trouble(const test::Case& graph, const char* optimizer, double tolerance) {
  const std::vector<Array> expected = evaluate(graph.outputs, graph.inputs, graph.values);
  FunctionGraph rewritten(graph.inputs, graph.outputs);
  try {
    rewrite(rewritten, query_of(optimizer));
    rewritten.check_integrity();
    const std::vector<Array> actual = evaluate(rewritten.outputs(), rewritten.inputs(), graph.values);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (graph.outputs[i].type()->is_super(*rewritten.outputs()[i].type()) &&
          (agrees(expected[i], actual[i], tolerance) || agrees_up_to_rounding(graph, actual)))
        continue;
      return cat("became ", rewriting::expression_text(rewritten.outputs()[i], 30), "\n", expected[i].str(),
                 "\nbecame ", actual[i].str());
    }
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

void check(const Variables& inputs, const Variable& output, const std::vector<Array>& values, double tolerance = 1e-9) {
  const config::Change strict("on_opt_error", "raise");
  const test::Case graph{inputs, {output}, values};
  for (const char* optimizer : optimizers) {
    if (trouble(graph, optimizer, tolerance).empty()) continue;
    const test::Case small =
        test::shrink(graph, [&](const test::Case& each) { return !trouble(each, optimizer, tolerance).empty(); });
    FAIL_CHECK(std::string(optimizer) << ": " << describe(small) << trouble(small, optimizer, tolerance));
  }
}

Array filled(const Dims& shape, int seed) {
  std::mt19937 generator{unsigned(seed)};
  std::uniform_real_distribution<double> uniform(-1.5, 1.5);
  Array out = Array::empty(DType::Float64, shape);
  for (std::int64_t k = 0; k < out.size(); ++k) out.mutable_data_as<double>()[k] = uniform(generator);
  return out;
}

std::size_t nodes_after(const Variable& output) {
  FunctionGraph graph({output});
  rewrite(graph, OPT_FAST_RUN);
  return graph.node_count();
}

}  // namespace

TEST_CASE("models and statistics keep their values") {
  auto X = matrix("X"), W = matrix("W");
  auto b = vector("b"), s = dscalar("s");
  auto y = lvector("y");
  const Variables inputs{X, W, b, s, y};
  const std::vector<Array> values{filled({4, 3}, 1), filled({3, 5}, 2), filled({5}, 3), Array(0.7),
                                  Array{1L, 0L, 4L, 2L}};
  const Variable logits = dot(X, W) + b;
  check(inputs, -mean(subtensor(log_softmax(logits, Axis{1}), {IndexItem(arange(shape_i(y, 0))), IndexItem(y)})),
        values);
  check(inputs, sum(log(softmax(logits, Axis{1}))), values);
  check(inputs, log(sum(exp(logits), Axis{1})), values);
  check(inputs, exp(logits) / sum(exp(logits), Axis{1}, KeepDims::Yes), values);
  check(inputs, var(logits, Axis{0}) + std_(logits, Axis{0}) * s, values);
  check(inputs, sum(sqr(logits - mean(logits)) / s) / cast(size(logits), DType::Float64), values);
  check(inputs, exp(-0.5 * pow((logits - s) / (1 + exp(s)), 2)) * tanh(b) + log(1 + exp(logits)), values);
  check(inputs, sum(sigmoid(logits) * (1 - sigmoid(logits)), Axis{1}), values);
  check(inputs, transpose(transpose(logits) * 2 - 1), values);
  check(inputs, reshape(ones_like(logits) * s, {shape_i(logits, 1), shape_i(logits, 0)}), values);
  check(inputs, sum(alloc(s, {shape_i(X, 0), shape_i(W, 1)}), Axis{0}) + b, values);
  check(inputs, (X * X + 2 * X * X) / X - (X - 3) + s, values);
  check(inputs, int_div(y, 2) * 2 + mod(y, 2), values);
  check(inputs, switch_(gt(X, 0), X, 0 * X) + maximum(X, X), values);
  check(inputs,
        set_subtensor(X, {IndexItem(0), Slice{1, {}, {}}}, 5.0) +
            inc_subtensor(zeros_like(X), {IndexItem(1)}, subtensor(X, {IndexItem(2)})),
        values);
  check(inputs, logsumexp(logits, Axis{1}, KeepDims::Yes) - max(logits, Axis{1}, KeepDims::Yes), values);
}

TEST_CASE("a product of constants that is much larger than its operands is not folded") {
  const Array numbers = filled({5000}, 1);
  const Variable outer = reshape(constant(numbers), {5000, 1}) * reshape(constant(numbers), {1, 5000});
  FunctionGraph graph({outer});
  rewrite(graph, OPT_FAST_RUN);
  CHECK(!graph.outputs()[0].is_constant());
  CHECK(nodes_after(exp(constant(numbers))) == 0);
}

TEST_CASE("gradients keep their values") {
  auto X = matrix("X"), W = matrix("W");
  auto b = vector("b"), s = dscalar("s");
  auto y = lvector("y");
  const Variables inputs{X, W, b, s, y};
  const std::vector<Array> values{filled({4, 3}, 5), filled({3, 5}, 6), filled({5}, 7), Array(0.7),
                                  Array{1L, 0L, 4L, 2L}};
  const Variable hidden = tanh(dot(X, W) + b), odds = 1 / (1 + exp(-hidden));
  const Variables costs{
      -mean(subtensor(log_softmax(hidden, Axis{1}), {IndexItem(arange(shape_i(y, 0))), IndexItem(y)})),
      sum(log(odds) + s * log(1 - odds)) - 0.5 * pow(s, 2),
      sum(sqr((hidden - mean(hidden, Axis{0}, KeepDims::Yes)) / (std_(hidden, Axis{0}, 0, KeepDims::Yes) + s))),
      logsumexp(pow(hidden / s, 4)),
      prod(1 + sigmoid(s * b)) * max(hidden),
  };
  for (auto& cost : costs)
    for (auto& gradient : grad(cost, Variables{W, b, s}, {.disconnected_inputs = OnDisconnected::Ignore}))
      check(inputs, gradient, values, 1e-8);
}

TEST_CASE("graphs have the expected numbers of nodes after rewriting") {
  auto x = vector("x"), y = vector("y");
  CHECK(nodes_after(log(1 + exp(x))) == 1);
  CHECK(nodes_after(x * y / y) == 0);
  CHECK(nodes_after(sum(x * ones_like(x))) == 1);
  CHECK(nodes_after(sum(2 * x, Axis{0})) == 2);
  CHECK(nodes_after(x * zeros_like(x) + y) <= 2);
  CHECK(nodes_after(-(-(-x))) == 1);
  CHECK(nodes_after(transpose(transpose(matrix("m")))) == 0);
  CHECK(nodes_after(sum(transpose(matrix("m")))) == 1);
  CHECK(nodes_after(subtensor(shape(exp(matrix("m"))), {IndexItem(0)})) == 1);
  CHECK(nodes_after(pow(x, 4)) == 2);
  CHECK(nodes_after(x + 1 + 2 + 3) == 1);
  CHECK(nodes_after(2 * x * 3 / 6) == 0);
}

TEST_CASE("random graphs keep their values") {
  for (const std::int64_t seed : test::Seeds(400)) {
    std::mt19937 generator{unsigned(seed)};
    auto pick = [&](int n) { return int(generator() % unsigned(n)); };
    const int trial = int(seed % 1000000);
    const Variables inputs{matrix("a"), matrix("b"), vector("v"), dscalar("s"), row("r"), col("c")};
    const std::vector<Array> values{filled({3, 4}, trial),     filled({3, 4}, trial + 1),
                                    filled({4}, trial + 2),    Array(0.3 + 0.1 * (trial % 9)),
                                    filled({1, 4}, trial + 3), filled({3, 1}, trial + 4)};
    Variables pool = inputs;
    for (double number : {1.0, 2.0, -1.0, 0.5, 0.0}) pool.push_back(Operand(number).variable);
    for (int step = 0; step < 14; ++step) {
      const Variable p = pool[std::size_t(pick(int(pool.size())))], q = pool[std::size_t(pick(int(pool.size())))];
      Variable made;
      switch (pick(35)) {
        case 0: made = p + q; break;
        case 1: made = p - q; break;
        case 2:
        case 3: made = p * q; break;
        case 4: made = p / q; break;
        case 5: made = -p; break;
        case 6: made = exp(p); break;
        case 7: made = log(p); break;
        case 8: made = log(1 + p); break;
        case 9: made = sigmoid(p); break;
        case 10: made = sqr(p); break;
        case 11: made = sqrt(abs(p)); break;
        case 12: made = pow(p, pick(4)); break;
        case 13: made = sum(p); break;
        case 14: made = p.ndim() ? sum(p, Axis{0}, KeepDims::Yes) : p * 3; break;
        case 15: made = p.ndim() == 2 ? max(p, Axis{1}, KeepDims::Yes) : tanh(p); break;
        case 16: made = switch_(gt(inputs[std::size_t(pick(6))], 0), p, q); break;
        case 17: made = ones_like(p) * q; break;
        case 18: made = 1 - p; break;
        case 19: made = abs(p) + 0; break;
        case 20: made = 1 / (1 + exp(-p)); break;
        case 21: made = p.ndim() == 2 ? transpose(transpose(p) + 1) : p + 1; break;
        case 22: made = p + q - p; break;
        case 23: made = (p * q) / q; break;
        case 24: made = cast(p, DType::Float64) * cast(gt(inputs[std::size_t(pick(6))], 0), DType::Float64); break;
        case 25: made = log(erfc(p)); break;
        case 26: made = q * exp(-sqr(p)) / erfc(p); break;
        // Shifted away from 0, whose sign is not kept; in float64, for all dtypes of the branches.
        case 27: made = q * switch_(gt(inputs[std::size_t(pick(6))], 0), 0, cast(p, DType::Float64)) + 0.25; break;
        case 28: made = switch_(gt(inputs[std::size_t(pick(6))], 0), cast(p, DType::Float64), 0) / q + 0.25; break;
        case 29: made = pow(p, pick(7) - 3) * pow(p, pick(7) - 3); break;
        case 30: made = abs(p * 2) + sign(p / -3); break;
        case 31: made = log1p(-exp(-abs(p))); break;
        case 32: made = dot(inputs[5], inputs[4]) * p; break;
        case 33: made = max(stack({p, p + 1}), Axis{0}); break;
        default: made = second(p, q); break;
      }
      pool.push_back(made);
    }
    CAPTURE(seed);
    const Variable output = sum(pool.back()) + pool[pool.size() - 2];
    check(inputs, output, values, 1e-7);
  }
}

TEST_CASE("random integer graphs keep their values exactly") {
  for (const std::int64_t seed : test::Seeds(400)) {
    std::mt19937 generator{unsigned(seed)};
    auto pick = [&](int n) { return int(generator() % unsigned(n)); };
    CAPTURE(seed);
    Variables inputs;
    std::vector<Array> values;
    for (DType dtype : {DType::Int8, DType::Int8, DType::UInt8, DType::Int32, DType::Int64, DType::Bool}) {
      const bool scalar = pick(3) == 0;
      inputs.push_back(tensor("x", dtype, scalar ? Dims{} : Dims{unknown_length}));
      Array value = Array::empty(DType::Int64, scalar ? Dims{} : Dims{5});
      for (std::int64_t k = 0; k < value.size(); ++k)
        value.mutable_data_as<std::int64_t>()[k] = pick(2) ? pick(256) - 128 : pick(5) - 2;
      values.push_back(dtype == DType::Bool ? value.astype(DType::Int8).astype(DType::Bool) : value.astype(dtype));
    }
    Variables pool = inputs;
    for (int number : {0, 1, -1, 2, 3, 127}) pool.push_back(Operand(number).variable);
    for (int step = 0; step < 12; ++step) {
      const Variable p = pool[std::size_t(pick(int(pool.size())))], q = pool[std::size_t(pick(int(pool.size())))];
      Variable made;
      try {
        switch (pick(20)) {
          case 0: made = p + q; break;
          case 1: made = p - q; break;
          case 2:
          case 3: made = p * q; break;
          case 4: made = int_div(p, q); break;
          case 5: made = -p; break;
          case 6: made = mod(p, q); break;
          case 7: made = abs(p); break;
          case 8: made = sqr(p); break;
          case 9: made = pow(p, pick(5)); break;
          case 10: made = maximum(p, q); break;
          case 11: made = and_(p, q); break;
          case 12: made = or_(p, q); break;
          case 13: made = xor_(p, q); break;
          case 14: made = invert(p); break;
          case 15: made = switch_(lt(p, q), p, q); break;
          case 16: made = cast(p, pick(2) ? DType::Int16 : DType::UInt8); break;
          case 17: made = p.ndim() ? sum(p) : p + p; break;
          case 18: made = sign(p) * abs(q); break;
          default: made = p + q - p; break;
        }
      } catch (const TypeError&) {
        continue;  // not defined for these dtypes
      }
      pool.push_back(made);
    }
    CAPTURE(seed);
    const Variable last = pool.back();
    if (is_discrete(last.dtype())) check(inputs, last, values, 0);
  }
}

// Constants that are broadcast to an unknown length are not folded: rules that move signs and constants must terminate.
TEST_CASE("rules terminate on broadcast constants") {
  const config::Change strict("on_opt_error", "raise");
  auto x = vector("x"), n = lscalar("n");
  const Variable two = alloc(constant(Array(2.0)), {n});
  for (auto& expression : Variables{-(two * x), (-two) * x, -(x / two), -(two / x), (-x) * two, two * (two * x),
                                    (x + two) + two, two - (two - x), -(-(two)*x) * -two, (two * x) / two}) {
    FunctionGraph graph({x, n}, {expression});
    RewriteReport report;
    rewrite(graph, OPT_FAST_RUN, &report);
    CHECK(report.errors.empty());
    const std::vector<Array> values{Array{0.5, -3.0, 7.0}, Array(std::int64_t(3))};
    CHECK(allclose(evaluate(graph.outputs(), graph.inputs(), values)[0], evaluate(expression, Variables{x, n}, values),
                   1e-12, 1e-12));
  }
}

// A length of 1 broadcasts where the type as built says so, regardless of rewriting.
TEST_CASE("a length that is statically 1 remains static") {
  const config::Change strict("on_opt_error", "raise");
  auto v = vector("v"), y = vector("y");
  const Variable one = alloc(v, {constant(Array(std::int64_t(1)))});
  const std::vector<Array> values{Array{5.0}, Array{1.0, 2.0, 3.0}};
  for (auto& expression : Variables{
           one + y, y * one, switch_(gt(y, 1), one, y), alloc(one, {constant(Array(std::int64_t(3)))}) + y,
           second(y, one), set_subtensor(y, {Slice{}}, one),
           alloc(alloc(one, {constant(Array(1L)), constant(Array(1L))}), {constant(Array(2L)), constant(Array(3L))}) +
               y,
           exp(one) * y - one, broadcast_to(v, {constant(Array(1L))}) / y}) {
    for (const char* optimizer : optimizers) {
      FunctionGraph graph({v, y}, {expression});
      rewrite(graph, query_of(optimizer));
      CHECK(allclose(evaluate(graph.outputs(), graph.inputs(), values)[0],
                     evaluate(expression, Variables{v, y}, values), 1e-12, 1e-12));
    }
  }
}

TEST_CASE("scaled terms are not added up where the terms are: the weights of a sum of exponentials") {
  const Variable x = dvector("x"), y = dmatrix("y");
  const Variable largest = max(x), of_rows = max(y, Axis{1}, KeepDims::Yes);
  const auto sums = [](const Variable& expression, const Variable& by) {
    int count = 0;
    for (auto& node : toposort(Variables{rewrite_graph(grad(expression, by), {"fast_run"})})) {
      const auto* reduction = dynamic_cast<const CAReduce*>(&node.op());
      count += reduction && reduction->kind.name == "sum";
    }
    return count;
  };
  CHECK(sums(largest + log(sum(exp(x - largest))), x) == 1);
  CHECK(sums(sum(of_rows + log(sum(exp(y - of_rows), Axis{1}, KeepDims::Yes))), y) == 1);
  check({x}, grad(largest + log(sum(exp(x - largest))), x), {Array{-2., 0.5, 3., 3.}});
}
