// Constant matrices of products: a transpose is read from the memory of the matrix, unless all of a product is
// constant.
#include <doctest/doctest.h>

#include "bitale/autodiff/gradient.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/rewriting/rewriting.hpp"
#include "graph/evaluate.hpp"
#include "graph/pointer_map.hpp"

using namespace bitale;

namespace {

Array numbers(const Dims& shape) {
  Array out = Array::empty(DType::Float64, shape);
  for (std::int64_t k = 0; k < out.size(); ++k) out.mutable_data_as<double>()[k] = double(k * 7 % 11) / 11 - 0.4;
  return out;
}

// The numbers in constants of the rewritten graph, whose values are those of the outputs as they are.
std::int64_t numbers_in_constants(const Variables& outputs, const Variables& inputs) {
  std::vector<Array> values;
  for (const Variable& input : inputs) values.push_back(numbers(input.static_shape()));
  FunctionGraph graph(inputs, outputs);
  rewrite(graph, query_of("fast_run"));
  const std::vector<Array> expected = evaluate(outputs, inputs, values);
  const std::vector<Array> found = evaluate(graph.outputs(), graph.inputs(), values);
  for (std::size_t k = 0; k < found.size(); ++k) CHECK(allclose(found[k], expected[k], 1e-12, 1e-12));
  std::int64_t count = 0;
  PointerSet seen;
  for (const Apply& node : graph.toposort())
    for (const Variable& input : node.inputs())
      if (input.is_constant() && input.constant()->size() > 1 && seen.insert(input.node()))
        count += input.constant()->size();
  return count;
}

}  // namespace

constexpr std::int64_t m = 250, n = 200;  // a large matrix

TEST_CASE("a large constant and its transpose have the same memory in products with vectors") {
  const Variable x = constant(numbers({m, n})), b = tensor("b", DType::Float64, {n});
  const Variable eta = dot(x, b), cost = sum(softplus(eta));
  CHECK(numbers_in_constants({cost, grad(cost, b)}, {b}) == m * n);
}

TEST_CASE("products of constants are constants, with transposes, too") {
  const Variable x = constant(numbers({m, n})), c = constant(numbers({m}));
  const Variable b = tensor("b", DType::Float64, {n});
  CHECK(numbers_in_constants({dot(b, dot(transpose(x), exp(c)))}, {b}) == n);
  CHECK(numbers_in_constants({b * dot(transpose(x), exp(c)), dot(x, b)}, {b}) == n + m * n);
}

TEST_CASE("a transpose that others read, and one of a small matrix, is a constant") {
  const Variable x = constant(numbers({m, n})), b = tensor("b", DType::Float64, {m});
  CHECK(numbers_in_constants({dot(transpose(x), b), transpose(x) * b}, {b}) == m * n);
  const Variable w = tensor("w", DType::Float64, {m, 40}), y = constant(numbers({50, 40}));
  const Variable a = tensor("a", DType::Float64, {40});
  const Variable v = tensor("v", DType::Float64, {n});
  CHECK(numbers_in_constants({dot(transpose(x), w), dot(x, v)}, {w, v}) == 2 * m * n);
  CHECK(numbers_in_constants({sum(dot(y, a)), dot(transpose(y), dot(y, a))}, {a}) == 2 * 50 * 40);
}
