// Matrix colorings (groups of structurally orthogonal rows and columns), and sparse Jacobians computed by them.
#include "autodiff/coloring.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <random>

#include "bitale/autodiff/gradient.hpp"
#include "bitale/compile/function.hpp"
#include "bitale/core/error.hpp"
#include "bitale/ops/ops.hpp"

using namespace bitale;

namespace {

using Predicate = std::function<bool(std::int64_t, std::int64_t)>;

SparsityPattern pattern_where(std::int64_t rows, std::int64_t columns, const Predicate& is_nonzero) {
  SparsityPattern out{rows, columns, {}};
  for (std::int64_t i = 0; i < rows; ++i) {
    out.columns_of_row.emplace_back();
    for (std::int64_t j = 0; j < columns; ++j)
      if (is_nonzero(i, j)) out.columns_of_row.back().push_back(j);
  }
  return out;
}

// Each nonzero is the only one of its row in the group of its column, or the only one of its column in the group of its
// row.
bool recovers_every_element(const SparsityPattern& pattern, const MatrixColoring& coloring) {
  std::map<std::pair<std::int64_t, std::int64_t>, int> in_columns, in_rows;
  for (std::int64_t i = 0; i < pattern.rows; ++i)
    for (std::int64_t j : pattern.columns_of_row[std::size_t(i)]) {
      ++in_columns[{i, coloring.columns.group[std::size_t(j)]}];
      ++in_rows[{coloring.rows.group[std::size_t(i)], j}];
    }
  for (std::int64_t i = 0; i < pattern.rows; ++i)
    for (std::int64_t j : pattern.columns_of_row[std::size_t(i)]) {
      const std::int64_t row = coloring.rows.group[std::size_t(i)], column = coloring.columns.group[std::size_t(j)];
      const bool left = coloring.from_the_left[std::size_t(i)];
      if (left ? row < 0 || in_rows[{row, j}] != 1 : column < 0 || in_columns[{i, column}] != 1) return false;
    }
  return true;
}

std::int64_t groups(std::int64_t rows, std::int64_t columns, const Predicate& is_nonzero) {
  const SparsityPattern pattern = pattern_where(rows, columns, is_nonzero);
  const MatrixColoring coloring = color(pattern);
  CHECK(recovers_every_element(pattern, coloring));
  return coloring.rows.count + coloring.columns.count;
}

}  // namespace

TEST_CASE("a banded matrix needs as many groups as its bandwidth, an arrow matrix three") {
  auto band = [](std::int64_t below, std::int64_t above) {
    return [=](std::int64_t i, std::int64_t j) { return j - i <= above && i - j <= below; };
  };
  CHECK(groups(50, 50, band(0, 0)) == 1);
  CHECK(groups(50, 50, band(1, 1)) == 3);
  CHECK(groups(50, 50, band(3, 0)) == 4);
  CHECK(groups(50, 50, band(2, 2)) == 5);
  CHECK(groups(30, 30, [](auto i, auto j) { return i == j || i == 0 || j == 0; }) == 3);
  CHECK(groups(30, 30, [](auto i, auto j) { return i == j || i == 29 || j == 29; }) == 3);
  CHECK(groups(30, 30, [](auto i, auto j) { return i == j || i == 7; }) == 2);
  CHECK(groups(30, 30, [](auto i, auto j) { return i == j || j == 7; }) == 2);
  CHECK(groups(6, 18, [](auto i, auto j) { return j / 3 == i; }) == 1);
  CHECK(groups(18, 6, [](auto i, auto j) { return i / 3 == j; }) == 1);
  CHECK(groups(3, 8, [](auto, auto) { return true; }) == 3);
  CHECK(groups(8, 3, [](auto, auto) { return true; }) == 3);
  CHECK(groups(4, 4, [](auto, auto) { return false; }) == 0);
  CHECK(groups(0, 4, [](auto, auto) { return true; }) == 0);
  CHECK(groups(4, 0, [](auto, auto) { return true; }) == 0);
}

TEST_CASE("colorings of random patterns recover every element") {
  std::mt19937 random(3);
  for (int k = 0; k < 60; ++k) {
    const std::int64_t rows = 1 + random() % 25, columns = 1 + random() % 25;
    const unsigned density = 1 + random() % 60;
    CHECK(groups(rows, columns, [&](auto, auto) { return random() % 100 < density; }) <= std::min(rows, columns));
  }
}

TEST_CASE("sparse Jacobians and Hessians agree with dense ones") {
  const Variable x = vector("x");
  const Variable before = subtensor(x, {Slice{{}, Operand(-1), {}}}), after = subtensor(x, {Slice{Operand(1), {}, {}}});
  const Variable cost = sum(sqr(after - sqr(before))) + sum(exp(before * 0.5));
  constexpr std::int64_t n = 6;
  Array tridiagonal = Array::zeros(DType::Bool, Dims{n, n});
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) tridiagonal.mutable_data_as<bool>()[i * n + j] = std::abs(i - j) <= 1;
  const Variable gradient = grad(cost, x);
  const Function f = function(
      {x}, {sparse_hessian(cost, x, tridiagonal), sparse_jacobian(gradient, x, tridiagonal), hessian(cost, x)});
  const Results found = f({Array{0.1, -0.4, 0.9, 1.3, -0.7, 0.2}});
  CHECK(allclose(found[0], found[2], 1e-12, 1e-12));
  CHECK(allclose(found[1], found[2], 1e-12, 1e-12));
  CHECK_THROWS_AS(f({Array{1., 2., 3.}}), ShapeError);
  CHECK_THROWS_AS(sparse_jacobian(matrix("m"), x, tridiagonal), TypeError);
  CHECK_THROWS_AS(sparse_jacobian(gradient, x, Array{1., 2.}), TypeError);
}

TEST_CASE("products with the Gauss-Newton matrix") {
  const Variable x = vector("x"), v = vector("v"), r = sin(x) * sum(x);
  const Variable J = jacobian(r, x);
  const Variable product = gauss_newton_vector_product(sum(sqr(r)) / 2., {r}, {x}, {v})[0];
  const Results found = function({x, v}, {product, dot(transpose(J), dot(J, v))})({Array{0.3, 0.8}, Array{1., -2.}});
  CHECK(allclose(found[0], found[1], 1e-12, 1e-12));
}

TEST_CASE("all rows can be taken from the left") {
  const SparsityPattern pattern = pattern_where(6, 6, [](std::int64_t i, std::int64_t j) { return i == j || j == 0; });
  const MatrixColoring coloring = color_rows(pattern);
  CHECK(recovers_every_element(pattern, coloring));
  CHECK(coloring.rows.count == 6);
  CHECK(coloring.columns.count == 0);
  CHECK(color_rows({0, 3, {}}).rows.count == 0);
}
