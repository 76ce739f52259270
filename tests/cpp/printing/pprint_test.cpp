#include <doctest/doctest.h>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/printing/printing.hpp"

using namespace bitale;

TEST_CASE("parentheses only where they are needed") {
  Variable a = dvector("a"), b = dvector("b"), c = dvector("c");
  CHECK(pprint(a) == "a");
  CHECK(pprint(a + pow(a, 10)) == "a + a ** 10");
  CHECK(pprint((a + b) * c) == "(a + b) * c");
  CHECK(pprint(a + b * c) == "a + b * c");
  CHECK(pprint(a - b - c) == "a - b - c");
  CHECK(pprint(a - (b - c)) == "a - (b - c)");
  CHECK(pprint(a + (b + c)) == "a + (b + c)");
  CHECK(pprint(a / (b * c)) == "a / (b * c)");
  CHECK(pprint(a * b / c) == "a * b / c");
  CHECK(pprint(pow(pow(a, b), c)) == "(a ** b) ** c");
  CHECK(pprint(pow(a, pow(b, c))) == "a ** b ** c");
  CHECK(pprint(-pow(a, b)) == "-a ** b");
  CHECK(pprint(pow(-a, b)) == "(-a) ** b");
  CHECK(pprint(pow(a, -b)) == "a ** (-b)");
  CHECK(pprint(-(a * b)) == "-(a * b)");
  CHECK(pprint(-a * b) == "-a * b");
  CHECK(pprint(-(-a)) == "-(-a)");
  CHECK(pprint(pow(a, -2)) == "a ** (-2)");
  CHECK(pprint(a < (b < c)) == "a < (b < c)");
  CHECK(pprint((a < b) < c) == "(a < b) < c");
}

TEST_CASE("functions") {
  Variable a = dvector("a"), x = dmatrix("x");
  CHECK(pprint(exp(-sqr(a)) / (1 + exp(a))) == "exp(-sqr(a)) / (1 + exp(a))");
  CHECK(pprint(maximum(a, 0.5)) == "maximum(a, 0.5)");
  CHECK(pprint(switch_(a > 0, a, -a)) == "switch(a > 0, a, -a)");
  CHECK(pprint(cast(a, DType::Float32)) == "float32(a)");
  CHECK(pprint(sum(x)) == "sum(x)");
  CHECK(pprint(sum(x, Axes{{1}})) == "sum(x, axis=1)");
  CHECK(pprint(sum(a + sum(x))) == "sum(a + sum(x))");
}

TEST_CASE("layout and indices") {
  Variable a = dvector("a"), b = dvector("b"), x = dmatrix("x");
  CHECK(pprint(x + a) == "x + a");
  CHECK(pprint(transpose(x)) == "x.T");
  CHECK(pprint(transpose(x + a)) == "(x + a).T");
  CHECK(pprint(subtensor(a, {Slice{0, 3, {}}})) == "a[0:3]");
  CHECK(pprint(subtensor(x + a, {Slice{{}, {}, 2}, 0})) == "(x + a)[::2, 0]");
  CHECK(pprint(subtensor(x, {Slice{}, lvector("i")})) == "x[:, i]");
  CHECK(pprint(subtensor(x, {lvector("i"), lvector("j")})) == "x[i, j]");
  CHECK(pprint(set_subtensor(a, {Slice{0, 2, {}}}, b)) == "set_subtensor(a[0:2], b)");
  CHECK(pprint(inc_subtensor(x, {lvector("i")}, a)) == "inc_subtensor(x[i], a)");
  CHECK(pprint(dimshuffle(a, {0, new_axis}) * x) == "a[:, None] * x");
  CHECK(pprint(transpose(tensor("t", DType::Float64, Dims{2, 3, 4}))) == "t.T");
}

TEST_CASE("a broadcast constant of one element prints as a number") {
  const Variable a = dvector("a"), x = dmatrix("x");
  CHECK(pprint(a + constant(Array{2.0})) == "a + 2.0");
  CHECK(pprint(pow(x, constant(Array{{-2.0}}))) == "x ** (-2.0)");
  CHECK(pprint(a + constant(Array{2.0, 3.0})) == "a + [2. 3.]");
  CHECK(pprint(a + constant(Array{2.0}, "c")) == "a + c{[2.]}");
  CHECK(pprint(join(0, {a, constant(Array{2.0})})).find("[2.]") != std::string::npos);
}

TEST_CASE("large expressions are cut") {
  Variable a = dvector("a"), x = a;
  for (int i = 0; i < 6; ++i) x = x + a;
  CHECK(pprint(x, {.depth = 2}) == "… + a + a");
  CHECK(pprint(x, {.depth = 0}) == "…");
  CHECK(pprint(x, {.max_length = 10}) == "… + a");
  // Shared sub-expressions double the text at every level.
  for (int i = 0; i < 60; ++i) x = x * x;
  CHECK(pprint(x).size() < 20000);
  Variable deep = a;
  for (int i = 0; i < 100000; ++i) deep = exp(deep);
  CHECK(pprint(deep, {.depth = 3}) == "exp(exp(exp(…)))");
  CHECK(pprint(deep).find("…") != std::string::npos);
  CHECK_THROWS_AS(pprint(Variable()), ValueError);
}

TEST_CASE("text that may precede an index") {
  CHECK(atom_text("x") == "x");
  CHECK(atom_text("f(a, b)[0]") == "f(a, b)[0]");
  CHECK(atom_text("a + b") == "(a + b)");
  CHECK(atom_text("-a") == "(-a)");
  CHECK(atom_text("<Vector(float64, shape=(?,))>") == "<Vector(float64, shape=(?,))>");
}
