// The functions of arrange.hpp, creation.hpp, search.hpp and contraction.hpp in C++: results of NumPy, and errors.
// tests/python/tensor/test_tensor_functions.py has many more cases.
#include <doctest/doctest.h>

#include "bitale/compile/function.hpp"
#include "bitale/core/error.hpp"
#include "bitale/ops/arrange.hpp"
#include "bitale/ops/contraction.hpp"
#include "bitale/ops/creation.hpp"
#include "bitale/ops/linalg.hpp"
#include "bitale/ops/search.hpp"
#include "graph/evaluate.hpp"

using namespace bitale;

namespace {

bool gives(const Variable& v, const Array& expected) { return allclose(evaluate(v), expected, 1e-14, 1e-14); }

const Array m = Array{1.0, 2.0, 3.0, 4.0, 5.0, 6.0}.reshape({2, 3}), v{3.0, -1.0, 2.0};

}  // namespace

TEST_CASE("rearranged elements") {
  CHECK(gives(flip(m, std::vector<int>{1}), Array{3.0, 2.0, 1.0, 6.0, 5.0, 4.0}.reshape({2, 3})));
  CHECK(gives(rot90(m), Array{3.0, 6.0, 2.0, 5.0, 1.0, 4.0}.reshape({3, 2})));
  CHECK(gives(roll(v, 1), Array{2.0, 3.0, -1.0}));
  CHECK(gives(tile(v, {2}), Array{3.0, -1.0, 2.0, 3.0, -1.0, 2.0}));
  CHECK(gives(repeat(v, Array{std::int64_t(1), std::int64_t(0), std::int64_t(2)}), Array{3.0, 2.0, 2.0}));
  CHECK(gives(pad(v, {{1, 2}}, PadMode::Reflect), Array{-1.0, 3.0, -1.0, 2.0, -1.0, 3.0}));
  CHECK(gives(join_dims(m), Array{1.0, 2.0, 3.0, 4.0, 5.0, 6.0}));
  CHECK(gives(split(v, {1, 2})[1], Array{-1.0, 2.0}));
  CHECK_THROWS_AS(flip(v, std::vector<int>{1}), AxisError);
}

TEST_CASE("sequences and diagonals") {
  CHECK(gives(linspace(0.0, 1.0, 5), Array{0.0, 0.25, 0.5, 0.75, 1.0}));
  CHECK(gives(geomspace(1.0, 8.0, 4), Array{1.0, 2.0, 4.0, 8.0}));
  CHECK(gives(fill_diagonal(m, 0.0), Array{0.0, 2.0, 3.0, 4.0, 0.0, 6.0}.reshape({2, 3})));
  CHECK(gives(tri(2, Operand(3)), Array{1.0, 0.0, 0.0, 1.0, 1.0, 0.0}.reshape({2, 3})));
}

TEST_CASE("positions and order statistics") {
  const Array sorted{-1.0, 2.0, 2.0, 3.0};
  CHECK(evaluate(searchsorted(sorted, 2.0)).int_item() == 1);
  CHECK(evaluate(searchsorted(sorted, 2.0, SearchSide::Right)).int_item() == 3);
  CHECK(gives(unique(sorted).values, Array{-1.0, 2.0, 3.0}));
  CHECK(gives(median(m), Array(3.5)));
  CHECK(gives(quantile(v, 0.25), Array(0.5)));
  CHECK_THROWS_AS(quantile(v, 2.0), ValueError);
}

TEST_CASE("contractions") {
  CHECK(gives(einsum("ij,j->i", {m, v}), Array{7.0, 19.0}));
  CHECK(gives(einsum("ij,kj->ik", {m, m}), Array{14.0, 32.0, 32.0, 77.0}.reshape({2, 2})));
  CHECK(gives(tensordot(m, m, {0, 1}, {0, 1}), Array(91.0)));
  CHECK(gives(matvec(m, v), Array{7.0, 19.0}));
  CHECK(gives(kron(v, Array{1.0, 10.0}), Array{3.0, 30.0, -1.0, -10.0, 2.0, 20.0}));
  CHECK_THROWS_AS(einsum("ij,jk", {m}), ValueError);
}

TEST_CASE("axes are a list, a vector or all") {
  const std::vector<int> both{0, -1};
  CHECK(gives(sum(m, {0}), Array{5.0, 7.0, 9.0}));
  CHECK(gives(sum(m, {{1}}), Array{6.0, 15.0}));
  CHECK(gives(sum(m, {0, 1}), Array(21.0)));
  CHECK(gives(sum(m, {{0, 1}}, KeepDims::Yes), Array{21.0}.reshape({1, 1})));
  CHECK(gives(sum(m, both), Array(21.0)));
  CHECK(gives(sum(m, {}), Array(21.0)));
  CHECK(gives(max(m, {-1}), Array{3.0, 6.0}));
  CHECK(gives(sum(m, std::vector<int>{}), m));
  CHECK_THROWS_AS(sum(m, {2}), AxisError);
}

TEST_CASE("extremes along a statically empty axis are an error") {
  for (const Dims& shape : {Dims{0}, Dims{0, 2}}) {
    const Variable x = tensor("x", DType::Float64, shape);
    CHECK_THROWS_AS(argmax(x, 0), ValueError);
    CHECK_THROWS_AS(argmin(x, 0), ValueError);
    CHECK_THROWS_AS(max(x, {0}), ValueError);
    CHECK_THROWS_AS(min(x, {0}), ValueError);
  }
  const Variable x = tensor("x", DType::Float64, {0, unknown_length});
  CHECK(argmax(x, 0).ndim() == 1);  // there may be no columns
  CHECK_THROWS_AS(argmax(tensor("y", DType::Float64, {0})), ValueError);
}

TEST_CASE("grids and numbers of elements") {
  const Variable x = vector("x"), n = tensor("n", DType::Int64, Dims{});
  const Variables grid = meshgrid({x, Operand(Array{5.0, 6.0})});
  const auto f = function({x}, grid);
  CHECK(f({Array{1.0, 2.0, 3.0}})[0].str() == "[[1. 2. 3.]\n [1. 2. 3.]]");
  CHECK(f({Array{1.0, 2.0, 3.0}})[1].str() == "[[5. 5. 5.]\n [6. 6. 6.]]");
  CHECK(meshgrid({x, x}, {.sparse = true, .indexing = GridIndexing::Matrix})[1].static_shape() ==
        Dims{1, unknown_length});
  CHECK_THROWS_AS(eye(-1), ValueError);
  CHECK_THROWS_WITH_AS(function({n}, eye(n))({Array(std::int64_t(-2))}), doctest::Contains("eye"), ValueError);
  CHECK_THROWS_AS(function({n}, linspace(0.0, 1.0, n))({Array(std::int64_t(-2))}), ValueError);
}

TEST_CASE("parts of expressions are indexed with brackets") {
  const Variable x = matrix("x"), i = lscalar("i"), n = lscalar("n");
  const Variable mask = tensor("mask", DType::Bool, {unknown_length});
  const Variables parts{x[1],
                        x[-1],
                        x[i],
                        x[slice(1, 3)],
                        x[slice({}, n)],
                        x[{i, slice(1, n)}],
                        x(1, 0),
                        x(i, slice(n, {}, -1)),
                        x[mask],
                        x[{slice(), mask}],
                        x[{Ellipsis{}, 0}],
                        x[{slice(), NewAxis{}}],
                        x[std::vector<int>{1, 0}],
                        x[Array{std::int64_t(1)}],
                        x[slice()],
                        x[Slice{.stop = n}]};
  const auto f = function({x, i, n, mask}, parts);
  const Array m{{1., 2., 3.}, {4., 5., 6.}, {7., 8., 9.}};
  const Results out = f(m, std::int64_t(1), std::int64_t(2), Array{true, false, true});
  const Array expected[] = {m[1],
                            m[-1],
                            m[1],
                            m[slice(1, 3)],
                            m[slice({}, 2)],
                            m[{1, slice(1, 2)}],
                            Array(4.),
                            Array{6., 5., 4.},
                            Array{{1., 2., 3.}, {7., 8., 9.}},
                            Array{{1., 3.}, {4., 6.}, {7., 9.}},
                            m[{slice(), 0}],
                            m[{slice(), NewAxis{}}],
                            Array{{4., 5., 6.}, {1., 2., 3.}},
                            Array{{4., 5., 6.}},
                            m,
                            m[slice(0, 2)]};
  REQUIRE(out.size() == std::size(expected));
  for (std::size_t k = 0; k < out.size(); ++k) {
    CAPTURE(k);
    CHECK(allclose(out[k], expected[k], 0, 0));
  }
  CHECK(gives(set_subtensor(m, 0, 1.)[0], Array{1., 1., 1.}));
  const Variable cube = tensor3("cube");
  CHECK(function({cube}, cube(0, 1, 0))(Array::zeros(DType::Float64, {1, 2, 1})).single().ndim() == 0);
  CHECK_THROWS_AS(x[1.5], IndexError);
  static_assert(!std::is_assignable_v<Variable, Variable>);  // x[i] = y
  static_assert(std::is_assignable_v<Variable&, Variable>);
}

TEST_CASE("parts and assignments know the line that wrote them") {
  const Variable x = matrix("x"), i = lscalar("i");
  Variable y = x;
  const auto here = std::uint32_t(__LINE__);
  const Variable parts[] = {x[0], x[{i, slice(1, i)}], x(i, 0), x[std::vector<int>{0}]};
  y += x;
  for (const Variable& part : parts) CHECK(part.where().line == here + 1);
  CHECK(y.where().line == here + 2);
  CHECK(std::string(y.where().file).ends_with("language_test.cpp"));
}

TEST_CASE("compound assignment") {
  Variable x = constant(Array{6., 9.});
  const Variable before = x;
  x += 2;
  x -= Array{1., 1.};
  x *= x;
  x /= 2.;
  x %= 7;
  CHECK(gives(x, Array{3.5, 1.}));
  CHECK(gives(before, Array{6., 9.}));
}

TEST_CASE("calls take their arguments with and without braces") {
  const Variable x = vector("x"), y = vector("y");
  const auto f = function({x, y}, {x + y, sum(x * y)});
  const Array a{1., 2.};
  const std::vector<double> b{3., 4.};
  auto [total, product] = f(a, b).take<2>();
  CHECK(identical(total, Array{4., 6.}));
  CHECK(product.item() == 11);
  CHECK(identical(f({a, b})[0], total));
  CHECK_THROWS_WITH_AS(f(a, b).take<3>(), doctest::Contains("expected 3 results, the call gave 2"), ValueError);
  const std::vector<Array> both{a, b};
  CHECK(f(both)[1].item() == 11);
  CHECK(function({x}, sum(x))(f(a, b)[0]).item() == 10);
  CHECK(function({x}, sum(x))(function({x}, x + 1)(a)).item() == 5);
  CHECK(function({}, constant(Array(1.)))().item() == 1);
}
