// Runs all stages from graph to program, in order.
#include "lowering/lower.hpp"

#include "lowering/definitions.hpp"
#include "lowering/passes.hpp"

namespace bitale::lowering {

namespace {

std::vector<Maker> makers_of(const Computations& computations) {
  std::vector<Maker> makers;
  for (auto& computation : computations.list) {
    if (!computation.node) continue;
    const Apply node = Apply::of(computation.node);
    for_each_result(
        computation,
        [&](std::int64_t buffer) {
          makers.push_back({buffer, -1, node});
        },
        [&](Expr var) {
          makers.push_back({-1, var.payload(), node});
        });
  }
  return makers;
}

}  // namespace

void make_steps(Definitions& definitions, const std::function<void(std::string_view pass)>& observe) {
  auto& program = definitions.program;
  definitions.choose_stores();       // what is stored; all else is inlined into its readers
  definitions.build_computations();  // the expressions of what is stored
  drop_overwritten(program, definitions.declare, definitions.computations);
  build_nests(program, definitions.declare, definitions.computations);  // which computations share a loop
  observe("nest");
  forward_stores(program);
  observe("forward");
  narrow_temporaries(program);
  observe("narrow");
}

Lowered lower(const FunctionGraph& graph, const InputLayouts& layouts, bool parallel, const PassObserver& observer) {
  Program program;
  program.input_count = int(graph.inputs().size());
  program.output_count = int(graph.outputs().size());
  Declarations declare(program);
  Definitions definitions(graph, program, declare, layouts);
  const auto observe = [&](std::string_view pass) {
    if (observer) observer(pass, program, definitions.callbacks);
  };
  definitions.define_all();  // what every variable is
  make_steps(definitions, observe);
  batches_in_lanes(program, declare, definitions.equal_lengths);
  observe("lanes");
  promote_elements(program, declare);
  observe("promote");
  collapse_loops(program, declare, definitions.equal_lengths);
  observe("collapse");
  tile_loops(program, declare);
  observe("tile");
  vectorize(program);
  if (parallel) parallelize_loops(program, declare);
  observe("parallelize");
  plan_memory(program);
  observe("memory");
  program::verify(program);
  std::vector<Maker> makers = makers_of(definitions.computations);
  std::vector<Apply> check_nodes;
  for (auto& check : definitions.computations.checks) check_nodes.push_back(check.node);
  return {std::move(program), std::move(definitions.callbacks), std::move(check_nodes), std::move(makers)};
}

}  // namespace bitale::lowering
