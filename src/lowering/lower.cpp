// The whole road from graph to program, in the order it is travelled.
#include "lowering/lower.hpp"

#include "lowering/plan.hpp"

namespace bitale::lowering {

Lowered lower(const FunctionGraph& graph, const InputLayouts& layouts, bool shared) {
  Plan plan(graph, layouts);
  plan.define_all();     // what every variable is
  plan.choose_stores();  // what is stored; all else is inlined into its readers
  plan.build_roots();    // the expressions of what is stored
  build_nests(plan);     // what shares a loop
  forward_stores(plan.program);
  narrow_temporaries(plan.program);
  collapse_loops(plan);
  tile_loops(plan);
  vectorize(plan.program);
  if (shared) share_loops(plan);
  plan_memory(plan.program);
  program::verify(plan.program);
  return {std::move(plan.program), std::move(plan.callbacks), std::move(plan.check_nodes)};
}

}  // namespace bitale::lowering
