// Ops that are formulas over other ops are expanded before other rules are applied, also nested formulas.
#include <doctest/doctest.h>

#include "bitale/bitale.hpp"
#include "graph/expansion.hpp"

using namespace bitale;

namespace {

// x to the power 2^levels, defined by itself one level below; for levels < 0 without end.
class Squares final : public OpOf<Squares>, public Expansion {
 public:
  explicit Squares(std::int64_t levels) : levels(levels) {}
  const std::int64_t levels;
  static constexpr auto fields = attribute_list(attribute("levels", &Squares::levels));

  std::string_view name() const override { return "Squares"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    return Apply(OpRef(this), {inputs[0]}, {inputs[0].type()});
  }
  void perform(const Apply&, std::span<const Array>, std::span<Array>) const override {
    throw InternalError("Squares was performed");
  }
  std::optional<Variables> expansion(const Apply& node) const override {
    if (levels == 0) return Variables{node.input(0)};
    return Variables{sqr((*make_ref<const Squares>(levels - 1))({node.input(0)}))};
  }
};

}  // namespace

TEST_CASE("expand: nested formulas replace their ops") {
  const Variable x = vector("x");
  const Variable y = (*make_ref<const Squares>(3))({x});
  const Variable rewritten = rewrite_graph(Variables{y}, {"expand"})[0];
  for (const Apply& node : toposort(Variables{rewritten})) CHECK(node.op().name() != "Squares");
  CHECK(function({x}, sum(y))({Array{2.0, 1.0}})[0].item() == 257);
}

TEST_CASE("expand: a formula that recurs without end is refused") {
  const Variable x = vector("x");
  const Variable y = (*make_ref<const Squares>(-1))({x});
  CHECK_THROWS_AS(function({x}, y)({Array{2.0, 1.0}}), Error);
}

TEST_CASE("expand: a long chain of formulas takes one pass") {
  const Variable x = vector("x");
  const OpRef op = op_from_graph({x}, {x + 1.0});
  Variable y = x;
  for (int i = 0; i < 500; ++i) y = i % 2 ? apply_op(op, {y})[0] : (*make_ref<const Squares>(0))({y});
  CHECK(allclose(function({x}, y)({Array{2.0, 1.0}})[0], Array{252.0, 251.0}));
}

TEST_CASE("expand: an inner graph that is longer than the outer one is rewritten completely") {
  const Variable x = vector("x");
  Variable chain = x;
  for (int i = 0; i < 5000; ++i) chain = -(-chain) * 2.0 / 2.0;
  RewriteReport report;
  FunctionGraph graph({x}, apply_op(op_from_graph({x}, {chain}), {x}));
  rewrite(graph, OPT_FAST_RUN, &report);
  CHECK(report.errors.empty());
  CHECK(graph.node_count() == 0);
}
