// Elemwise: broadcasting, its errors, static shapes, and derivatives at special points.
#include "ops/elementwise/elemwise.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "bitale/core/error.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/evaluate.hpp"

using namespace bitale;

namespace {

constexpr auto unknown = unknown_length;

Variable x_of(const Dims& shape) { return tensor("x", DType::Float64, shape); }
Variable y_of(const Dims& shape) { return tensor("y", DType::Float64, shape); }

// Gradients of the elements of one node's output, summed with weight 1 (or `g`).
std::vector<double> gradients(const Variable& output, const std::vector<double>& at, double g = 1) {
  const Apply node = output.owner();
  std::vector<Array> values(at.begin(), at.end());
  const Variable cotangents[] = {constant(Array(g))};
  std::vector<double> out;
  for (auto& gradient : node.op().pullback(node, cotangents))
    out.push_back(gradient.is_disconnected() ? -99 : evaluate(gradient, node.inputs(), values).item());
  return out;
}

}  // namespace

TEST_CASE("static shapes broadcast where a length is known to be 1") {
  CHECK(add(x_of({unknown, 3}), y_of({2, unknown})).static_shape() == Dims{2, 3});
  CHECK(add(x_of({1, unknown}), y_of({unknown, 1})).static_shape() == Dims{unknown, unknown});
  CHECK(add(x_of({1, 3}), y_of({4, 1})).static_shape() == Dims{4, 3});
  CHECK(add(x_of({1}), y_of({1})).static_shape() == Dims{1});
  CHECK(add(x_of({unknown}), y_of({2, unknown})).static_shape() == Dims{2, unknown});  // ranks are padded on the left
  CHECK(add(x_of({0}), y_of({1})).static_shape() == Dims{0});
}

TEST_CASE("known lengths that differ are refused when the node is built") {
  try {
    add(x_of({3}), y_of({4}));
    FAIL("no error");
  } catch (const ShapeError& error) {
    const std::string message = error.what();
    CHECK(message.find("add: lengths 3 and 4 can't broadcast in dimension 0") != std::string::npos);
    CHECK(message.find("x: f64[3], y: f64[4]") != std::string::npos);
  }
}

TEST_CASE("lengths that differ at run time are refused") {
  const Variable x = dvector("x"), y = dvector("y"), z = x * y;
  const Variable inputs[] = {x, y};
  const Array three{1.0, 2.0, 3.0}, four{1.0, 2.0, 3.0, 4.0}, one{1.0};
  const Array unequal[] = {three, four}, repeated[] = {three, one};
  CHECK_THROWS_WITH_AS(evaluate(z, inputs, unequal), doctest::Contains("mul: lengths 3 and 4 can't broadcast"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(evaluate(z, inputs, repeated), doctest::Contains("broadcasts only where the type says so"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(evaluate(z, inputs, unequal), doctest::Contains("elemwise_test.cpp"), ShapeError);
}

TEST_CASE("a wrong number of operands and unequal ranks are refused") {
  const Variable x = dvector("x"), m = dmatrix("m");
  const Variable one[] = {x}, two[] = {x, m};
  CHECK_THROWS_WITH_AS(elemwise("add")->make_node(one), doctest::Contains("expected 2 operands, got 1"), TypeError);
  CHECK_THROWS_WITH_AS(elemwise("add")->make_node(two), doctest::Contains("equal rank"), TypeError);
}

TEST_CASE("values broadcast") {
  const Array column = Array{{1.0}, {2.0}}, row = Array{{10.0, 20.0, 30.0}};
  const Array sum = evaluate(add(constant(column), constant(row)));
  CHECK(identical(sum, Array{{11.0, 21.0, 31.0}, {12.0, 22.0, 32.0}}));
  const Array large = evaluate(add(constant(Array::full(DType::Float64, {50, 3, 70}, 2)), 1));
  CHECK(identical(large, Array::full(DType::Float64, {50, 3, 70}, 3)));
}

TEST_CASE("labels and attributes") {
  const Variable x = dvector("x");
  CHECK((x / 2).owner_op()->label() == "True_div");
  CHECK(cast(x, DType::Int8).owner_op()->label() == "Cast{int8}");
  CHECK(cast(x, DType::Float64).same_as(x));
  CHECK(scalar_op_of(x + 1) == &scalar_op("add"));
  CHECK(scalar_op_of(x) == nullptr);
  CHECK(elemwise("add")->equals(Elemwise(scalar_op("add"))));
  CHECK(!elemwise("add")->equals(*elemwise("sub")));
}

TEST_CASE("derivatives at special points") {
  const Variable x = dscalar("x"), y = dscalar("y");
  constexpr double inf = std::numeric_limits<double>::infinity();
  // Ties go to the first operand.
  CHECK(gradients(maximum(x, y), {2, 2}) == std::vector<double>{1, 0});
  CHECK(gradients(minimum(x, y), {3, 2}) == std::vector<double>{0, 1});
  CHECK(gradients(abs(x), {0}) == std::vector<double>{0});
  // 0 ** 0 is constant in the base; 0 ** 2 has slope 0 in the base and, as in PyTensor, 0 in the exponent.
  CHECK(gradients(pow(x, y), {0, 0}) == std::vector<double>{0, 0});
  CHECK(gradients(pow(x, y), {0, 2}) == std::vector<double>{0, 0});
  CHECK(gradients(pow(x, y), {3, 2}) == std::vector<double>{6, 9 * std::log(3)});
  CHECK(gradients(mod(x, y), {-7, 2}) == std::vector<double>{1, 4});
  CHECK(gradients(int_div(x, y), {-7, 2}) == std::vector<double>{0, 0});
  // An infinite cotangent does not reach the branch that was not taken.
  const Variable condition = constant(Array(true));
  CHECK(gradients(switch_(condition, x, y), {1, 5, 7}, inf) == std::vector<double>{-99, inf, 0});
  CHECK(gradients(maximum(x, y), {2, 1}, inf) == std::vector<double>{inf, 0});
  CHECK(gradients(clip(x, -1, 1), {0.5, -1, 1}).front() == 1);
  CHECK(gradients(clip(x, -1, 1), {2, -1, 1}).front() == 0);
  // Discrete outputs are not connected, discrete inputs have gradient zero.
  CHECK(gradients(lt(x, y), {1, 2}) == std::vector<double>{-99, -99});
  CHECK(gradients(mul(x, lscalar("i")), {1.5, 2}) == std::vector<double>{2, 0});
}

TEST_CASE("gradients of broadcast inputs are summed") {
  const Variable x = x_of({1, unknown}), y = y_of({unknown, unknown});
  const Apply node = mul(x, y).owner();
  const Variable cotangents[] = {dmatrix("g")};
  const Variables gradients = node.op().pullback(node, cotangents);
  CHECK(gradients[0].static_shape() == Dims{1, unknown});
  const Variable inputs[] = {x, y, cotangents[0]};
  const Array values[] = {Array{{1.0, 2.0}}, Array{{1.0, 2.0}, {3.0, 4.0}}, Array{{1.0, 1.0}, {10.0, 10.0}}};
  CHECK(identical(evaluate(gradients[0], inputs, values), Array{{31.0, 42.0}}));
}
