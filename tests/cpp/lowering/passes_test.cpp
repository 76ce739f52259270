// Each pass of the lowering preserves the results of a Program, element by element, and its accesses are within bounds:
// an interpreter runs the Program after every pass, for all ops at all their samples.
#include <doctest/doctest.h>

#include "bitale/bitale.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/ops/registry.hpp"
#include "lowering/lower.hpp"
#include "support/passes.hpp"
#include "support/program_interpreter.hpp"
#include "support/sampling.hpp"

using namespace bitale;

TEST_CASE("interpreted Programs represent float16 values by their bits") {
  const Variable a = vector("a", DType::Float16);
  const Variables inputs{a}, outputs{cast(a, DType::Float64)};
  const Array expected{-3.0, 1.0, 0.5, 0.0}, given[] = {expected.astype(DType::Float16)};
  lowering::lower(FunctionGraph(inputs, outputs), {}, false,
                  [&](std::string_view, const program::Program& program, std::span<const Apply> callbacks) {
                    CHECK(test::interpret(program, callbacks, given).outputs[0].str() == expected.str());
                  });
}

TEST_CASE("each pass preserves the results of the programs of all ops") {
  for (auto& entry : op_registry())
    for (auto& sample : test::part_of(entry.samples())) {
      INFO(entry.name << " " << sample.note);
      const Variables outputs = sample.node.outputs();
      const FunctionGraph graph(graph_inputs(outputs), outputs);
      for (const bool parallel : {false, true}) CHECK(test::pass_trouble(graph, sample.values, parallel) == "");
    }
}

TEST_CASE("a length that is read from a temporary keeps the temporary") {
  const Variable x = tensor("x", DType::Float64, {1}), step = scalar("step");
  const Variable start = sum(cumprod(x));
  const Variables outputs = {arange(start, start + 3, step)};
  const Array values[] = {Array{2.}, Array(1.)};
  CHECK(test::pass_trouble(FunctionGraph({x, step}, outputs), values, false) == "");
  CHECK(identical(function({x, step}, outputs)({values[0], values[1]})[0], Array{2., 3., 4.}));
}
