// User functions around each node: order, values, several linkers per node, errors.
#include <doctest/doctest.h>

#include <cmath>

#include "bitale/bitale.hpp"
#include "link/linker.hpp"

using namespace bitale;

namespace {

Array call(const Linker& linker, const Variables& inputs, const Variable& output, const std::vector<Array>& values) {
  FunctionOptions options;
  options.mode = Mode(linker, "None");
  return function(inputs, output, options).call(values).single();
}

}  // namespace

TEST_CASE("a wrapper sees every node in order, with its inputs and outputs") {
  const Variable x = vector("x");
  std::vector<std::string> seen;
  const Linker linker = wrap_linker({"vm"}, [&](NodeStep& step) {
    CHECK(step.index == seen.size());
    CHECK(step.linker_count == 1);
    CHECK(step.graph->contains(step.node));
    CHECK(step.outputs().empty());
    step.run();
    CHECK(step.inputs.size() == step.node.inputs().size());
    CHECK(step.outputs().size() == step.node.output_count());
    seen.push_back(step.node.op().label() + " " + step.outputs()[0].str());
  });
  CHECK(call(linker, {x}, sum(exp(x * 0.0)), {Array{5., 6.}}).item() == 2);
  REQUIRE(seen.size() == 4);
  CHECK(seen[1] == "Mul [0. 0.]");
  CHECK(seen[2] == "Exp [1. 1.]");
}

TEST_CASE("a wrapper may run a node by several linkers, and the call continues with the results of the first") {
  const Variable x = vector("x");
  int nodes = 0;
  const Linker linker = wrap_linker({"vm", "jit"}, [&](NodeStep& step) {
    REQUIRE(step.linker_count == 2);
    step.run(1);
    CHECK(step.outputs(0).empty());
    step.run(0);
    CHECK(allclose(step.outputs(0)[0], step.outputs(1)[0], 1e-12));
    ++nodes;
  });
  CHECK(allclose(call(linker, {x}, sqr(exp(x) + x), {Array{0., 1.}}), Array{1., std::pow(std::exp(1.) + 1, 2)}, 1e-12));
  CHECK(nodes == 3);
}

TEST_CASE("a node may be run again, also one that overwrites its input") {
  const Variable x = vector("x");
  FunctionOptions options;
  options.mode = Mode(wrap_linker({"vm"},
                                  [](NodeStep& step) {
                                    step.run();
                                    step.run();
                                  }),
                      "fast_run")
                     .including({"inplace"});
  CHECK(allclose(function({x}, exp(sum(x) + exp(x) * x), options)({Array{0., 1.}}).single(),
                 Array{std::exp(1.), std::exp(1 + std::exp(1.))}));
}

TEST_CASE("an exception of a wrapper ends the call, and a wrapper must run its node") {
  const Variable x = vector("x");
  const Linker throwing = wrap_linker({"vm"}, [](NodeStep&) { throw KeyError("mine"); });
  CHECK_THROWS_WITH_AS(call(throwing, {x}, exp(x), {Array{0.}}), "mine", KeyError);
  const Linker idle = wrap_linker({"vm"}, [](NodeStep&) {});
  CHECK_THROWS_WITH_AS(call(idle, {x}, exp(x), {Array{0.}}), doctest::Contains("Exp(x)"), ValueError);
}

TEST_CASE("callbacks of the virtual machine follow each node and report every input") {
  const Variable x = vector("x");
  std::string seen;
  const Linker linker =
      vm_linker([&](NodeStep& step) { seen += step.node.op().label() + "=" + step.outputs()[0].str(); },
                [&](const Variable& variable, const Array&) { seen += variable.str() + " "; });
  call(linker, {x}, exp(x), {Array{0.}});
  CHECK(seen == "x Exp=[1.]");
}

TEST_CASE("linkers are known by name, and wrappers need nodes") {
  CHECK(Linker("py").name == "vm");
  CHECK(Linker("auto").name == "jit");
  CHECK_THROWS_WITH_AS(Linker("wrp"), doctest::Contains("did you mean `wrap`"), ValueError);
  CHECK_THROWS_AS(wrap_linker({}, {}), ValueError);
  CHECK_THROWS_AS(wrap_linker({"jot"}, {}), ValueError);
  Linker whole("jit");
  whole.wrapper = [](NodeStep& step) { step.run(); };
  const Variable x = vector("x");
  CHECK_THROWS_WITH_AS(call(whole, {x}, exp(x), {Array{0.}}), doctest::Contains("wrap_linker({\"jit\"}"), ValueError);
}
