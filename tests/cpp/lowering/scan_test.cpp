// Loops from state to state, as ops say them (Lowering::scan).
#include <doctest/doctest.h>

#include "bitale/bitale.hpp"
#include "bitale/core/text.hpp"
#include "link/linker.hpp"
#include "lowering/lower.hpp"
#include "ops/lowering.hpp"
#include "support/passes.hpp"

using namespace bitale;

namespace {

// y[t] = a y[t - 1] + x[t], and the number of elements so far above a limit: two states of two dtypes.
class Recurrence final : public Op {
 public:
  std::string_view name() const override { return "Recurrence"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    return Apply(OpRef(this), {inputs.begin(), inputs.end()},
                 {tensor_type(DType::Float64, Dims{unknown_length}), tensor_type(DType::Int64, Dims{unknown_length})});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override {
    return {inputs[0], inputs[0]};
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const std::int64_t n = in[0].size();
    out[0] = Array::zeros(DType::Float64, Dims{n});
    out[1] = Array::zeros(DType::Int64, Dims{n});
    double y = in[2].at(Dims{});
    std::int64_t above = 0;
    for (std::int64_t t = 0; t < n; ++t) {
      y = in[1].at(Dims{}) * y + in[0].at(Dims{t});
      above += y > 1;
      static_cast<double*>(out[0].mutable_data())[t] = y;
      static_cast<std::int64_t*>(out[1].mutable_data())[t] = above;
    }
  }
  bool emit(Lowering& to, const Apply&) const override {
    Scan scan;
    scan.init = [&to] { return std::vector<Expr>{to.in(2), to.pool().integer(0)}; };
    scan.step = [&to](Expr t, std::span<const Expr> states) {
      const Expr at[] = {t};
      const Expr y = to.in(1) * states[0] + to.in(0, at);
      const Expr above = states[1] + program::cast(y > 1, DType::Int64);
      return Scan::Step{{y, above}, {y, above}};
    };
    to.scan(to.shape_in(0)[0], std::move(scan));
    return true;
  }
};

// y[t] = graph(y[t - 1], x[t], a): a graph of scalars as the step.
class GraphRecurrence final : public Op {
 public:
  using Graph = std::function<Variable(const Variable& y, const Variable& x, const Variable& a)>;
  explicit GraphRecurrence(Graph graph) : graph_(std::move(graph)) {}
  std::string_view name() const override { return "GraphRecurrence"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    return Apply(OpRef(this), {inputs.begin(), inputs.end()}, {tensor_type(DType::Float64, Dims{unknown_length})});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override { return {inputs[0]}; }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const Variables leaves{scalar("y"), scalar("x"), scalar("a")};
    const Variable step = graph_(leaves[0], leaves[1], leaves[2]);
    const auto next = link::link("vm", std::make_shared<const FunctionGraph>(leaves, Variables{step}));
    out[0] = Array::zeros(DType::Float64, Dims{in[0].size()});
    Array y = in[2];
    for (std::int64_t t = 0; t < in[0].size(); ++t) {
      y = next->run(std::vector<Array>{y, Array(in[0].at(Dims{t})), in[1]})[0];
      static_cast<double*>(out[0].mutable_data())[t] = y.at(Dims{});
    }
  }
  bool emit(Lowering& to, const Apply&) const override {
    const Variables leaves{scalar("y"), scalar("x"), scalar("a")};
    const auto rule = to.graph_rule(leaves, {graph_(leaves[0], leaves[1], leaves[2])});
    if (!rule) return false;
    Scan scan;
    scan.init = [&to] { return std::vector<Expr>{to.in(2)}; };
    scan.step = [&to, rule = *rule](Expr t, std::span<const Expr> states) {
      const Expr at[] = {t}, given[] = {states[0], to.in(0, at), to.in(1)};
      const auto next = rule(given);
      return Scan::Step{next, next};
    };
    to.scan(to.shape_in(0)[0], std::move(scan));
    return true;
  }

 private:
  const Graph graph_;
};

Array values(std::int64_t n) {
  Array out = Array::zeros(DType::Float64, Dims{n});
  for (std::int64_t t = 0; t < n; ++t) static_cast<double*>(out.mutable_data())[t] = double(t % 7) - 2.5;
  return out;
}

void agrees(const Variables& inputs, const Variables& outputs, const std::vector<Array>& given) {
  const auto graph = std::make_shared<const FunctionGraph>(inputs, outputs);
  const auto expected = link::link("vm", graph)->run(given);
  for (const char* linker : {"jit", "c"}) {
    CAPTURE(linker);
    const auto got = link::link(linker, graph)->run(given);
    for (std::size_t k = 0; k < got.size(); ++k) {
      const std::string message = cat(got[k].str(), " is not ", expected[k].str());
      CHECK_MESSAGE(allclose(got[k], expected[k], 1e-13, 1e-13), message);
    }
  }
  const std::string trouble = test::pass_trouble(*graph, given, true);
  CHECK_MESSAGE(trouble.empty(), trouble);
}

}  // namespace

TEST_CASE("scan: a loop with two states is native, with what its inputs compute in it") {
  const Variable x = vector("x"), a = scalar("a"), y0 = scalar("y0");
  const Variables inputs{x, a, y0};
  const Apply scan = make_ref<Recurrence>()->make_node(Variables{x * 2.0, a, y0 + 1.0});
  const Variables outputs{scan.output(0) * 3.0, scan.output(1), sum(scan.output(0))};
  const auto lowered = lowering::lower(FunctionGraph(inputs, outputs));
  CHECK(lowered.callbacks.empty());
  const std::string text = program::to_string(lowered.program);
  CHECK_MESSAGE(text.find("for step in len(x, 0), state v") != std::string::npos, text);
  for (std::int64_t n : {0, 1, 5, 100}) agrees(inputs, outputs, {values(n), Array(0.5), Array(0.25)});
}

TEST_CASE(
    "scan: materialize_threshold inputs are computed in lanes before it, inputs in parts are stored, two scans follow "
    "each other") {
  const Variable x = vector("x"), a = scalar("a"), y0 = scalar("y0");
  const Variables inputs{x, a, y0};
  const auto op = make_ref<Recurrence>();
  const Apply first = op->make_node(Variables{concatenate({exp(x), x}), sum(x) * a, y0});
  const Apply second = op->make_node(Variables{first.output(0) + 1.0, a, subtensor(first.output(0), {IndexItem(0)})});
  agrees(inputs, {second.output(0), first.output(1)}, {values(9), Array(0.1), Array(0.25)});
}

TEST_CASE("scan: the step is a graph of scalars, of which each use has its own values") {
  const Variable x = vector("x"), a = scalar("a"), y0 = scalar("y0");
  const Variables inputs{x, a, y0};
  const auto smooth = make_ref<GraphRecurrence>([](const Variable& y, const Variable& each, const Variable& by) {
    const Variable product = by * y;
    return tanh(product + each) + product * 0.5;  // the product is seen twice: it is rounded once, for both
  });
  const Apply first = smooth->make_node(Variables{x, a, y0});
  const Apply second = smooth->make_node(Variables{first.output(), a * 0.5, y0});
  const Variables outputs{first.output(), second.output()};
  CHECK(lowering::lower(FunctionGraph(inputs, outputs)).callbacks.empty());
  agrees(inputs, outputs, {values(20), Array(0.9), Array(0.25)});
}

TEST_CASE("scan: a step that is no element rule leaves no trace, and the host runs the op") {
  const Variable x = vector("x"), a = scalar("a"), y0 = scalar("y0");
  const Variables inputs{x, a, y0};
  const auto summing = make_ref<GraphRecurrence>([](const Variable& y, const Variable& each, const Variable& by) {
    return sum(stack({y * 0.5, each, by}));
  });
  const Variable out = summing->make_node(Variables{x, a, y0}).output();
  CHECK(lowering::lower(FunctionGraph(inputs, {out * 2.0, sum(x)})).callbacks.size() == 1);
  agrees(inputs, {out * 2.0, sum(x)}, {values(6), Array(0.9), Array(0.25)});
}
