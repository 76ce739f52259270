// Traversal, clones, replacement, equality.
#include <doctest/doctest.h>

#include "graph/test_ops.hpp"

using namespace bitale;
using namespace bitale::testing;

namespace {

std::string names(const Variables& variables) {
  std::string out;
  for (auto& v : variables) out += v.name();
  return out;
}

bool equal(const Variable& x, const Variable& y, const Variables& in_x = {}, const Variables& in_y = {}) {
  return equal_computations({&x, 1}, {&y, 1}, in_x, in_y);
}

}  // namespace

TEST_CASE("toposort puts a node after its inputs") {
  Variable x = leaf("x"), a = f(x), b = g(a), out = h(b, a);
  auto order = toposort({&out, 1});
  CHECK(order.size() == 3);
  CHECK(order[0].output().same_as(a));
  CHECK(order[1].output().same_as(b));
  CHECK(order[2].output().same_as(out));
  CHECK(toposort({&out, 1}, {a}).size() == 2);
  CHECK(toposort({&x, 1}).empty());
}

TEST_CASE("ancestors and inputs") {
  Variable x = leaf("x"), y = leaf("y"), a = f(y);
  a.set_name("a");
  Variable out = h(a, x);
  out.set_name("o");
  CHECK(names(ancestors({&out, 1})) == "yaxo");
  CHECK(names(ancestors({&out, 1}, {a})) == "axo");
  CHECK(names(graph_inputs({&out, 1})) == "yx");
  CHECK(names(graph_inputs({&out, 1}, {a})) == "ax");
  Variable with_constant = h(out, constant(Array{1.}));
  CHECK(names(graph_inputs({&with_constant, 1})) == "yx");
  CHECK(depends_on(out, Variables{y}));
  CHECK_FALSE(depends_on(a, Variables{x}));
  CHECK(depends_on(out, Variables{out}));
}

TEST_CASE("only explicit inputs must be provided") {
  struct Container final : LeafData {};
  Variable x = leaf("x"), s = leaf("s");
  s.node()->leaf = make_ref<const Container>();
  Variable out = h(x, s);
  CHECK(names(explicit_graph_inputs({&out, 1})) == "x");
}

TEST_CASE("clone keeps names, provenance, sharing and leaves") {
  Variable x = leaf("x"), a = f(x);
  a.set_name("a");
  a.owner().node()->provenance.rule = "rule";
  Variables outs = {h(a, a), a};
  VariableMap memo;
  Variables copies = clone(outs, memo);
  CHECK_FALSE(copies[1].same_as(a));
  CHECK(copies[1].name() == "a");
  CHECK(std::string(copies[1].owner().provenance().rule) == "rule");
  CHECK(copies[0].owner().input(0).same_as(copies[1]));
  CHECK(copies[0].owner().input(1).same_as(copies[1]));
  CHECK(copies[1].owner().input(0).same_as(x));
  VariableMap deep;
  Variables others = clone(outs, deep, ClonedLeaves::Copy);
  CHECK_FALSE(others[1].owner().input(0).same_as(x));
  CHECK(others[1].owner().input(0).name() == "x");
  CHECK(deep.at(x).same_as(others[1].owner().input(0)));
}

TEST_CASE("clone uses the entries of the memo") {
  Variable x = leaf("x"), y = leaf("y"), a = f(x), out = g(a);
  VariableMap memo{{a, y}};
  CHECK(clone({&out, 1}, memo)[0].owner().input(0).same_as(y));
}

TEST_CASE("graph_replace") {
  Variable x = leaf("x"), y = leaf("y"), a = f(x), b = g(y), out = h(a, b);
  Variable replaced = graph_replace({&out, 1}, {{x, y}})[0];
  CHECK(equal(replaced, h(f(y), g(y))));
  CHECK(replaced.owner().input(1).same_as(b));  // untouched parts are shared
  CHECK(equal(out, h(f(x), g(y))));             // the original is unchanged
  SUBCASE("a replacement may contain what it replaces") {
    CHECK(equal(graph_replace({&out, 1}, {{x, f(x)}})[0], h(f(f(x)), g(y))));
  }
  SUBCASE("an intermediate variable, and an output") {
    CHECK(equal(graph_replace({&out, 1}, {{a, y}})[0], h(y, g(y))));
    CHECK(graph_replace({&out, 1}, {{out, y}})[0].same_as(y));
  }
  SUBCASE("swapping") {
    Variable both = h(x, y);
    CHECK(equal(graph_replace({&both, 1}, {{x, y}, {y, x}})[0], h(y, x)));
  }
  SUBCASE("strictness") {
    CHECK_THROWS_AS(graph_replace({&a, 1}, {{y, x}}), ValueError);
    CHECK(graph_replace({&a, 1}, {{y, x}}, Strict::No)[0].same_as(a));
    CHECK(clone_replace({&a, 1}, {{y, x}})[0].same_as(a));
  }
  SUBCASE("types") {
    Variable precise = leaf("p", {3}), other(tensor_type(DType::Float32, 1), "other");
    CHECK_THROWS_AS(graph_replace({&out, 1}, {{x, other}}), TypeError);
    Variable refined = graph_replace({&out, 1}, {{x, precise}})[0];
    CHECK(refined.static_shape() == Dims{3});
    CHECK_THROWS_AS(graph_replace({&refined, 1}, {{precise, x}}), TypeError);
  }
}

TEST_CASE("equal_computations") {
  Variable x = leaf("x"), y = leaf("y");
  CHECK(equal(h(f(x), g(y)), h(f(x), g(y))));
  CHECK_FALSE(equal(h(f(x), g(y)), h(g(y), f(x))));
  CHECK_FALSE(equal(f(x), g(x)));
  CHECK_FALSE(equal(f(x), f(y)));
  CHECK(equal(f(x), f(y), {x}, {y}));
  CHECK_FALSE(equal(h(x, y), h(x, x), {x, y}, {x, y}));
  CHECK(equal(h(x, y), h(y, x), {x, y}, {y, x}));
  // y is an ordinary leaf on the left, but the counterpart of x on the right.
  CHECK_FALSE(equal(h(x, y), h(y, y), {x}, {y}));
  CHECK(equal(h(f(x), f(x)), [&] {
    Variable a = f(x);
    return h(a, a);
  }()));
  CHECK(equal(split(x)[1], split(x)[1]));
  CHECK_FALSE(equal(split(x)[0], split(x)[1]));
  CHECK_FALSE(equal(x, leaf("x", {3})));
}

TEST_CASE("equal_computations compares constants by value") {
  Variable x = leaf("x");
  auto with = [&](Array value) { return h(x, constant(value)); };
  CHECK(equal(with(Array{1.}), with(Array{1.})));
  CHECK_FALSE(equal(with(Array{1.}), with(Array{2.})));
  CHECK_FALSE(equal(with(Array{1.f}), with(Array{1.})));
  CHECK_FALSE(equal(with(Array{0.}), with(Array{-0.}), {}, {}));
  double nan = std::nan("");
  CHECK(equal(with(Array{nan}), with(Array{-nan})));
}

TEST_CASE("equal_computations takes linear time on graphs with much sharing") {
  auto tower = [](Variable x) {
    for (int i = 0; i < 2000; ++i) x = h(x, x);
    return x;
  };
  Variable x = leaf("x");
  CHECK(equal(tower(x), tower(x)));
  CHECK_FALSE(equal(tower(x), tower(f(x))));
}
