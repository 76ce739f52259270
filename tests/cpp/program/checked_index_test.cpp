// Indices that are checked where they are used.
#include "program/checked_index.hpp"

#include <doctest/doctest.h>

#include "program/interpret.hpp"

using namespace bitale;
using namespace bitale::program;

TEST_CASE("a checked index is recognised, with its operands") {
  ExprPool pool;
  const Expr i = pool.var(0, DType::Int64), n = pool.var(1, DType::Int64);
  for (const Expr length : {n, pool.integer(3)}) {
    const auto found = as_checked_index(checked_index(i, length, true));
    REQUIRE(found);
    CHECK(found->index == i);
    CHECK(found->length == length);
    CHECK(found->wrapped == wrapped_index(i, length));
    CHECK(found->in_range == is_in_range(i, length));
    CHECK(found->position == checked_index(i, length, true));
  }
  const Expr zero = pool.integer(0);
  for (const Expr other :
       {i, wrapped_index(i, n), select(is_in_range(i, n), i + 1, zero), select(i < n, wrapped_index(i, n), zero),
        select(is_in_range(i, n), wrapped_index(i, n), pool.integer(1)), select(is_in_range(i, n), n - i, zero)})
    CHECK(!as_checked_index(other));
}

TEST_CASE("a checked index is a position on the axis, or 0") {
  ExprPool pool;
  const Expr i = pool.var(0, DType::Int64), n = pool.var(1, DType::Int64);
  const Expr variables[] = {i, n};
  const Interpreter position(checked_index(i, n, true), variables, nullptr);
  const std::pair<double, double> expected[] = {{0, 0}, {2, 2}, {-1, 2}, {-3, 0}, {3, 0}, {-4, 0}, {1, 1}};
  for (auto& [index, at] : expected) {
    const double values[] = {index, 3};
    CHECK(position(values) == at);
  }
}
