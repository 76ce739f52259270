// The in-place passes: which nodes they change, which they do not, and that compiled functions remain correct.
#include <doctest/doctest.h>

#include "bitale/bitale.hpp"
#include "bitale/graph/features.hpp"
#include "graph/aliasing.hpp"

using namespace bitale;

namespace {

std::size_t destroyer_count(const FunctionGraph& graph) {
  std::size_t count = 0;
  for (auto& node : graph.toposort()) count += !destroyed_inputs(node).empty();
  return count;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

FunctionOptions with_mode(Mode mode) {
  FunctionOptions options;
  options.mode = std::move(mode);
  return options;
}

const Mode vm("vm", "fast_run"), plain("vm", "o3"), jit("jit", "fast_run");

}  // namespace

TEST_CASE("the virtual machine uses in-place forms, native code does not") {
  auto x = vector("x"), y = vector("y");
  const Variable out = sqrt(exp(x) + sin(y));
  auto f = function({x, y}, out, with_mode(vm));
  CHECK(destroyer_count(f.graph()) == 2);  // + over one of its operands, sqrt over the sum
  CHECK(f.graph().feature<DestroyHandler>() != nullptr);
  CHECK(contains(f.explain(), "inplace_elemwise"));
  CHECK(destroyer_count(function({x, y}, out, with_mode(jit)).graph()) == 0);
  CHECK(destroyer_count(function({x, y}, out, with_mode(plain)).graph()) == 0);
  CHECK(destroyer_count(function({x, y}, out, with_mode(vm.excluding({"inplace"}))).graph()) == 0);
  CHECK(destroyer_count(function({x, y}, out, with_mode(vm.excluding({"inplace_elemwise"}))).graph()) == 0);
  CHECK(destroyer_count(function({x, y}, out, with_mode(Mode("vm", "fast_compile"))).graph()) == 0);
  // Native code gets them on request, and compiles them like the ordinary forms.
  auto requested = function({x, y}, out, with_mode(jit.including({"inplace"})));
  CHECK(destroyer_count(requested.graph()) == 2);
  const Array a{0.5, 2.0}, b{1.0, -1.0};
  CHECK(allclose(requested({a, b}), f({a, b})));
}

TEST_CASE("indexed updates are made in place") {
  auto x = matrix("x"), y = vector("y");
  auto i = vector("i", DType::Int64);
  const Variable temporary = exp(x);
  const Variable out = inc_subtensor(set_subtensor(temporary, {IndexItem(0)}, y), {IndexItem(i)}, y);
  auto f = function({x, y, i}, out, with_mode(vm));
  CHECK(destroyer_count(f.graph()) == 2);
  CHECK(contains(f.dprint(), "inplace"));
  const Array a{{1., 2.}, {3., 4.}, {5., 6.}}, b{0.5, 0.25}, at{2, 0, 2};
  const Array before = a.copy();
  CHECK(allclose(f({a, b, at}), function({x, y, i}, out, with_mode(plain))({a, b, at})));
  CHECK(identical(a, before));
  // x belongs to the caller, and a temporary that is needed later is kept.
  CHECK(destroyer_count(function({x, y}, set_subtensor(x, {IndexItem(0)}, y), with_mode(vm)).graph()) == 0);
  const Variable reused = set_subtensor(temporary, {IndexItem(0)}, y);
  auto g = function({x, y}, {reused, temporary}, with_mode(vm));
  CHECK(destroyer_count(g.graph()) == 0);
  // A region that reads what it writes can't be written in place.
  const Variable shifted = set_subtensor(temporary, {Slice{1, {}, {}}}, subtensor(temporary, {Slice{{}, -1, {}}}));
  auto h = function({x}, shifted, with_mode(vm));
  CHECK(destroyer_count(h.graph()) == 0);
}

TEST_CASE("inputs, constants, shared variables and outputs are never destroyed") {
  auto x = vector("x");
  auto s = shared(Array{1., 2., 3.}, "s");
  const Variable c = constant(Array{4., 5., 6.});
  const Variable e = exp(x);
  FunctionOptions options = with_mode(vm);
  options.updates = {{s, exp(s) + c}};
  auto f = function({x}, {e, sqrt(e), transpose(e) + s, -(x + c)}, options);
  const Array a{0.1, 0.2, 0.3}, before = a.copy();
  for (int call = 0; call < 3; ++call) {
    auto results = f({a});
    CHECK(identical(a, before));
    CHECK(allclose(results[1], eval(sqrt(exp(x)), {{x, a}})));
    CHECK(allclose(results[3], eval(-(x + c), {{x, a}})));
    for (std::size_t i = 0; i < results.size(); ++i) {
      CHECK_FALSE(results[i].shares_memory_with(a));
      CHECK_FALSE(results[i].shares_memory_with(get_value(s)));
      for (std::size_t k = 0; k < i; ++k) CHECK_FALSE(results[i].shares_memory_with(results[k]));
    }
  }
  CHECK(identical(*c.constant(), Array{4., 5., 6.}));
}

TEST_CASE("broadcast operands and results of another dtype are not computed in place") {
  auto row = Variable(tensor_type(DType::Float64, {1, unknown_length}), "row");
  auto x = matrix("x"), small = Variable(tensor_type(DType::Float32, {unknown_length, unknown_length}), "small");
  auto count = [&](const Variables& inputs, const Variable& out) {
    return destroyer_count(function(inputs, out, with_mode(vm)).graph());
  };
  CHECK(count({row, x}, exp(row) + x) == 0);  // broadcast
  CHECK(count({row, x}, x + exp(row)) == 0);
  CHECK(count({small, x}, exp(small) + x) == 0);  // float32 into float64
  CHECK(count({x}, gt(exp(x), 1.0)) == 0);        // bool
  CHECK(count({x}, exp(x) * exp(x)) <= 1);
  auto a = scalar("a");
  CHECK(count({a}, exp(exp(a))) == 0);
}

TEST_CASE("a feature can refuse in-place forms of single nodes") {
  auto x = vector("x"), y = vector("y");
  FunctionGraph graph({x, y}, {sqrt(exp(x) + 1.0), sqrt(exp(y) + 2.0)});
  graph.attach(std::make_shared<NoOutputFromInplace>(std::vector<std::size_t>{1}));
  rewrite(graph, RewriteQuery{.include = {"inplace"}});
  CHECK(destroyed_inputs(graph.outputs()[0].owner()).size() == 1);
  CHECK(destroyed_inputs(graph.outputs()[1].owner()).empty());
  CHECK(destroyed_inputs(graph.outputs()[1].owner().input(0).owner()).size() == 1);
  graph.check_integrity();
}

TEST_CASE("long chains are changed in one pass") {
  auto x = vector("x");
  Variable v = x;
  for (int i = 0; i < 20000; ++i) v = sin(v) * 1.0001;
  FunctionGraph graph({x}, {v});
  rewrite(graph, RewriteQuery{.include = {"inplace"}});
  CHECK(destroyer_count(graph) == 39999);
}
