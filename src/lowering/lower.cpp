// The whole road from graph to program, in the order it is travelled.
#include "lowering/lower.hpp"

#include "lowering/passes.hpp"
#include "lowering/plan.hpp"

namespace bitale::lowering {

namespace {

std::vector<Maker> makers_of(const Plan& plan) {
  std::vector<Maker> makers;
  for (auto& root : plan.computations) {
    if (!root.node) continue;
    const Apply node = Apply::of(root.node);
    if (root.buffer >= 0) makers.push_back({root.buffer, -1, node});
    for (auto buffer : root.writes) makers.push_back({buffer, -1, node});
    if (root.var) makers.push_back({-1, root.var.payload(), node});
  }
  return makers;
}

}  // namespace

std::optional<Program> lower_body(const FunctionGraph& graph) {
  Plan plan(graph, {});
  plan.repeated = true;
  plan.define_all();
  if (!plan.callbacks.empty()) return {};
  plan.choose_stores();
  plan.build_computations();
  drop_overwritten(plan);
  build_nests(plan);
  forward_stores(plan.program);
  narrow_temporaries(plan.program);
  return std::move(plan.program);
}

Lowered lower(const FunctionGraph& graph, const InputLayouts& layouts, bool shared, const PassObserver& observer) {
  Plan plan(graph, layouts);
  plan.define_all();          // what every variable is
  plan.choose_stores();       // what is stored; all else is inlined into its readers
  plan.build_computations();  // the expressions of what is stored
  drop_overwritten(plan);
  const auto observe = [&](std::string_view pass) {
    if (observer) observer(pass, plan.program, plan.callbacks);
  };
  build_nests(plan);  // what shares a loop
  observe("nest");
  forward_stores(plan.program);
  observe("forward");
  narrow_temporaries(plan.program);
  observe("narrow");
  promote_elements(plan.program, plan.declare);
  observe("promote");
  collapse_loops(plan.program, plan.declare, plan.equal_lengths);
  observe("collapse");
  tile_loops(plan.program, plan.declare);
  observe("tile");
  vectorize(plan.program);
  if (shared) parallelize_loops(plan.program, plan.declare);
  observe("share");
  plan_memory(plan.program);
  observe("memory");
  program::verify(plan.program);
  std::vector<Maker> makers = makers_of(plan);
  return {std::move(plan.program), std::move(plan.callbacks), std::move(plan.check_nodes), std::move(makers)};
}

}  // namespace bitale::lowering
