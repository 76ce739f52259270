// What a graph knows of its matrices stays what a search finds that begins anew, however the graph changes.
#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "bitale/bitale.hpp"
#include "bitale/ops/assume.hpp"

using namespace bitale;

namespace {

class RandomMatrices {
 public:
  explicit RandomMatrices(unsigned seed) : draw_(seed) {}

  int below(std::size_t n) { return int(draw_() % n); }
  const Variable& one_of(const Variables& from) { return from[std::size_t(below(from.size()))]; }

  // A function of some of these 3 x 3 matrices.
  Variable function_of(const Variables& from) {
    const Variable x = one_of(from), y = one_of(from);
    switch (below(12)) {
      case 0: return dot(x, y);
      case 1: return transpose(x);
      case 2: return dot(x, transpose(x));
      case 3: return tril(x);
      case 4: return triu(x);
      case 5: return x + y;
      case 6: return x * y;
      case 7: return exp(x);
      case 8: return x - transpose(x);
      case 9: return sqr(x);
      case 10: return x + eye(3);
      default: return switch_(gt(x, 0.0), y, transpose(y));
    }
  }

 private:
  std::minstd_rand draw_;
};

Variables matrices_of(const FunctionGraph& graph) {
  Variables out;
  for (const Apply& node : graph.toposort())
    for (const Variable& v : node.outputs())
      if (as_tensor(v.type()) && v.dtype() == DType::Float64 && v.static_shape() == Dims{3, 3}) out.push_back(v);
  return out;
}

}  // namespace

TEST_CASE("facts of a graph that changes are those of a new search") {
  const Variable a = tensor("a", DType::Float64, {3, 3}), b = tensor("b", DType::Float64, {3, 3});
  int facts = 0, changes = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    RandomMatrices random(seed);
    Variables made{a, b};
    for (int k = 0; k < 40; ++k) made.push_back(random.function_of(made));
    Variables last(made.end() - 6, made.end());
    FunctionGraph graph({a, b}, last);
    for (int change = 0; change < 12; ++change) {
      const Variables present = matrices_of(graph);
      if (present.size() < 4) break;
      for (const Variable& v : present) {
        const Structure kept = structure_of(graph, v);
        CAPTURE(seed);
        CAPTURE(change);
        CHECK(kept == structure_of(v));
        facts += !kept.is_unknown();
      }
      const Variable before = random.one_of(present);
      Variables others = graph.inputs();
      for (const Variable& v : present)
        if (!depends_on(v, {&before, 1})) others.push_back(v);
      const Variable after = random.function_of(others);
      if (!before.type()->is_super(*after.type())) continue;
      graph.replace(before, after, "test");
      ++changes;
    }
  }
  CHECK(facts > 1000);
  CHECK(changes > 300);
}

TEST_CASE("what a node states of its input holds as long as the node is there") {
  const Variable a = tensor("a", DType::Float64, {3, 3}), s = scalar("s");
  const Variable stated = assume(a, Structure{Fact::Symmetric});
  FunctionGraph graph({a, s}, {exp(a) * s, sum(stated)});
  const Variable of_exp = graph.outputs()[0].owner().input(0), input = graph.inputs()[0];
  CHECK(structure_of(graph, of_exp).is(Fact::Symmetric));
  graph.replace(graph.outputs()[1], graph.inputs()[1], "test");
  CHECK(!structure_of(graph, of_exp).is(Fact::Symmetric));
  add_statement(graph, input, Structure{Fact::Symmetric});
  CHECK(structure_of(graph, of_exp).is(Fact::Symmetric));
}

TEST_CASE("facts of a leaf that has left the graph are not those of a variable that is made at its address") {
  const Variable s = scalar("s");
  const Type type = tensor("a", DType::Float64, {3, 3}).type();
  for (int k = 0; k < 20; ++k) {
    Variable a(type, "a");
    FunctionGraph graph({s}, {s});
    graph.add_input(a);
    add_statement(graph, a, Structure{Fact::Symmetric});
    CHECK(structure_of(graph, a).is(Fact::Symmetric));
    a = Variable();
    graph.remove_input(1);
    Variables others;  // all are held, so that one is where the leaf was unless that is held, too
    for (int n = 0; n < 50; ++n) {
      others.emplace_back(type, "b");
      CHECK(!structure_of(graph, others.back()).is(Fact::Symmetric));
    }
  }
}
