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
  CHECK(gives(pad(v, {{1, 2}}, "reflect"), Array{-1.0, 3.0, -1.0, 2.0, -1.0, 3.0}));
  CHECK(gives(join_dims(m), Array{1.0, 2.0, 3.0, 4.0, 5.0, 6.0}));
  CHECK(gives(split(v, {1, 2})[1], Array{-1.0, 2.0}));
  CHECK_THROWS_AS(pad(v, {{1, 2}}, "sideways"), ValueError);
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
  CHECK(gives(sum(m, {{0, 1}}, true), Array{21.0}.reshape({1, 1})));
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
  CHECK(meshgrid({x, x}, true, "ij")[1].static_shape() == Dims{1, unknown_length});
  CHECK_THROWS_AS(meshgrid({x}, false, "yx"), ValueError);
  CHECK_THROWS_AS(eye(-1), ValueError);
  CHECK_THROWS_WITH_AS(function({n}, eye(n))({Array(std::int64_t(-2))}), doctest::Contains("eye"), ValueError);
  CHECK_THROWS_AS(function({n}, linspace(0.0, 1.0, n))({Array(std::int64_t(-2))}), ValueError);
}
