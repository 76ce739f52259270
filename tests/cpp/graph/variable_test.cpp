// Variables and nodes: lifetimes, names, provenance, equality of ops.
#include <doctest/doctest.h>

#include "graph/test_ops.hpp"

using namespace bitale;
using namespace bitale::testing;

namespace {

struct Watched final : LeafData {
  explicit Watched(int* alive) : alive(alive) { ++*alive; }
  ~Watched() override { --*alive; }
  int* alive;
};

Variable watched(int* alive) {
  Variable x = leaf("x");
  x.node()->leaf = make_ref<const Watched>(alive);
  return x;
}

}  // namespace

TEST_CASE("a graph lives as long as one of its variables is referenced") {
  int alive = 0;
  Variable out;
  {
    Variable x = watched(&alive);
    out = f(g(x));
  }
  CHECK(alive == 1);
  Variable middle = out.owner().input(0);
  out = Variable();
  CHECK(alive == 1);
  CHECK(middle.str() == "Sum{kind='g', scale=1.0}.0");
  middle = Variable();
  CHECK(alive == 0);
}

TEST_CASE("one output keeps the node and the other outputs alive") {
  int alive = 0;
  Variable second;
  {
    Variables both = split(watched(&alive));
    second = both[1];
  }
  CHECK(alive == 1);
  CHECK(second.index() == 1);
  Variable first = second.owner().output(0);
  second = Variable();
  CHECK(first.owner().input(0).name() == "x");
  first = Variable();
  CHECK(alive == 0);
}

TEST_CASE("moved-from handles are empty") {
  Variable x = leaf("x");
  Variable y = std::move(x);
  CHECK_FALSE(x.defined());
  CHECK(y.name() == "x");
  Apply a = f(y).owner();
  Apply b = std::move(a);
  CHECK_FALSE(a.defined());
  CHECK(b.input(0).same_as(y));
  y = y;
  CHECK(y.name() == "x");
}

TEST_CASE("a missing input is refused") { CHECK_THROWS_AS(Apply(make_ref<Sum>("f"), {Variable()}, {}), ValueError); }

TEST_CASE("constants own their data") {
  Array value{1., 2.};
  Variable c = constant(value, "c");
  value.mutable_data_as<double>()[0] = 7;
  CHECK(identical(*c.constant(), Array{1., 2.}));
  CHECK_FALSE(c.constant()->writeable());
  CHECK(c.static_shape() == Dims{2});
  CHECK(constant(Array{1., 2.}).str() == "[1. 2.]");
  CHECK_FALSE(leaf("x").is_constant());
}

TEST_CASE("ops are equal by class and attributes") {
  auto a = make_ref<Sum>("f"), b = make_ref<Sum>("f"), c = make_ref<Sum>("g"), d = make_ref<Sum>("f", 2.);
  CHECK(a->equals(*b));
  CHECK(a->hash() == b->hash());
  CHECK_FALSE(a->equals(*c));
  CHECK_FALSE(a->equals(*d));
  CHECK_FALSE(a->equals(*make_ref<Split>()));
  Sum copy = *a;
  copy.kind = "g";
  CHECK(copy.equals(*c));
}

TEST_CASE("defaults of an op are explicit") {
  Variable x = leaf("x");
  Apply apply = f(x).owner();
  const Op& op = apply.op();
  CHECK(op.pullback(apply, {})[0].why_null() == "Sum{kind='f', scale=1.0} has no pullback");
  CHECK_THROWS_AS(op.pushforward(apply, {}), NotImplementedError);
  CHECK_THROWS_AS(op.vectorize(apply, {}), NotImplementedError);
  CHECK(op.infer_shape(apply, {}).empty());
  CHECK(op.connection_pattern(apply) == std::vector<std::vector<bool>>{{true}});
}

TEST_CASE("nodes record where they were built, or which rule made them") {
  Variable x = leaf("x"), user, rule;
  {
    LocationScope here(Location::interned("model.py", 12, "predict"));
    user = f(x);
    RuleScope scope("some rule");
    rule = f(x);
  }
  CHECK(user.where().line == 12);
  CHECK(user.owner().provenance().rule == nullptr);
  CHECK_FALSE(bool(rule.where()));
  CHECK(std::string(rule.owner().provenance().rule) == "some rule");
  Apply again = user.owner().with_inputs({g(x)});
  CHECK(again.output().where().line == 12);
}

TEST_CASE("a chain of a million nodes is built, traversed, cloned and destroyed") {
  int alive = 0;
  constexpr int length = 1'000'000;
  {
    Variable out = chain(watched(&alive), length);
    CHECK(node_count({&out, 1}) == length);
    CHECK(toposort({&out, 1}).size() == length);
    CHECK(graph_inputs({&out, 1}).size() == 1);
    VariableMap memo;
    Variables copy = clone({&out, 1}, memo, ClonedLeaves::Copy);
    CHECK(node_count(copy) == length);
    Variables inputs = graph_inputs({&out, 1}), copied_inputs = graph_inputs(copy);
    CHECK(equal_computations({&out, 1}, copy, inputs, copied_inputs));
    CHECK(alive == 1);
  }
  CHECK(alive == 0);
}
