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

TEST_CASE("a constant and its transpose have the same memory in products") {
  const Variable x = constant(numbers({50, 40})), b = tensor("b", DType::Float64, {40});
  const Variable eta = dot(x, b), cost = sum(softplus(eta));
  CHECK(numbers_in_constants({cost, grad(cost, b)}, {b}) == 50 * 40);
}

TEST_CASE("products of constants are constants, with transposes, too") {
  const Variable x = constant(numbers({50, 40})), y = constant(numbers({40, 50})), c = constant(numbers({50, 3}));
  const Variable b = tensor("b", DType::Float64, {40});
  CHECK(numbers_in_constants({dot(dot(transpose(x), x), b)}, {b}) == 40 * 40);
  CHECK(numbers_in_constants({dot(b, dot(transpose(x), exp(c)))}, {b}) == 40 * 3);
  CHECK(numbers_in_constants({dot(dot(transpose(x), transpose(y)), b)}, {b}) == 40 * 40);
}

TEST_CASE("a transpose that others read is a constant") {
  const Variable x = constant(numbers({50, 40})), b = tensor("b", DType::Float64, {50});
  CHECK(numbers_in_constants({dot(transpose(x), b), transpose(x) * b}, {b}) == 50 * 40);
}
