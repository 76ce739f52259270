// The loop level at which an expression is known.
#include "program/loop_nest.hpp"

#include <doctest/doctest.h>

using namespace bitale;
using namespace bitale::program;

TEST_CASE("an expression is known at the innermost loop it depends on") {
  ExprPool pool;
  const Expr i = pool.index(0), j = pool.index(1);
  const Expr row[] = {i}, element[] = {i, j};
  const Expr in_row = pool.load(0, DType::Float64, row), inside = pool.load(1, DType::Float64, element);
  LoopNest nest;
  CHECK(nest.level_of(pool.dim(0, 0) + 1) == 0);
  nest.open(i);
  nest.open(j);
  CHECK(nest.innermost() == 2);
  CHECK(nest.level_of(pool.dim(0, 0) + 1) == 0);
  CHECK(nest.level_of(in_row * 2) == 1);
  CHECK(nest.level_of(in_row * inside) == 2);
  CHECK(nest.own_level(inside) == 0);
  nest.close();
  CHECK(nest.level_of(in_row * 2) == 1);
}

TEST_CASE("an element that a loop writes is known only in that loop") {
  ExprPool pool;
  const Expr i = pool.index(0), at[] = {pool.integer(0)};
  const Expr total = pool.load(3, DType::Float64, at);
  Loop loop;
  loop.body.push_back({Accumulate{3, {at[0]}, Combiner::add, pool.number(1, DType::Float64)}});
  LoopNest nest;
  nest.begin(loop);
  nest.open(i);
  CHECK(nest.is_written(3));
  CHECK(nest.level_of(total + 1.0) == 1);
  nest.close();
  nest.begin(Step{Check{pool.boolean(true), 0}});
  nest.open(i);
  CHECK(nest.level_of(total + 1.0) == 0);
}

TEST_CASE("redefinition of a variable changes the level of its dependents") {
  ExprPool pool;
  const Expr prefix = pool.var(0, DType::Float64), twice = prefix * 2.0;
  LoopNest nest;
  nest.define(prefix);
  nest.open(pool.index(0));
  CHECK(nest.level_of(twice) == 0);
  nest.define(prefix);
  CHECK(nest.level_of(twice) == 1);
}
