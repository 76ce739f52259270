// Runs all stages from graph to program. The passes over a Program are two tables, in the order in which they run.
#include "lowering/lower.hpp"

#include <algorithm>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/interruption.hpp"
#include "bitale/core/text.hpp"
#include "lowering/definitions.hpp"
#include "lowering/passes.hpp"
#include "program/verify.hpp"

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

struct PassContext {
  Declarations& declare;
  const Lengths& lengths;
  bool parallel;
};

struct Pass {
  std::string_view name;
  void (*run)(Program& program, const PassContext& context);
  bool plans_memory = false;
  bool keeps_orders = false;  // of additions, so that sums have the same bits without the pass
};

// Inner loops get these passes separately, before they become a part of the outer Program; until then they may read
// variables of it.
constexpr Pass passes_of_steps[] = {
    {"forward", [](Program& program, const PassContext&) { forward_stores(program); }},
    {"narrow", [](Program& program, const PassContext&) { narrow_temporaries(program); }},
};

constexpr Pass passes_of_programs[] = {
    {"lanes", [](Program& program, const PassContext& with) { batch_lanes(program, with.declare, with.lengths); }},
    {"promote", [](Program& program, const PassContext& with) { promote_elements(program, with.declare); }},
    {"blocks", [](Program& program, const PassContext& with) { block_products(program, with.declare, with.lengths); }},
    {"guard", [](Program& program, const PassContext& with) { guard_additions(program, with.declare); }},
    {"jam", [](Program& program, const PassContext& with) { unroll_and_jam(program, with.declare); }},
    {"short", [](Program& program, const PassContext& with) { short_loops(program, with.declare); }},
    {"forward", [](Program& program, const PassContext&) { forward_stores(program); }},
    {"collapse",
     [](Program& program, const PassContext& with) { collapse_loops(program, with.declare, with.lengths); }},
    {"tile", [](Program& program, const PassContext& with) { tile_loops(program, with.declare); }},
    {"vectorize", [](Program& program, const PassContext&) { vectorize(program); }},
    {"parallelize",
     [](Program& program, const PassContext& with) {
       if (with.parallel) parallelize_loops(program, with.declare);
     },
     false, true},
    {"strips", [](Program& program, const PassContext& with) { look_in_strips(program, with.declare); }},
    {"empty", [](Program& program, const PassContext&) { skip_empty_nests(program); }},
    {"memory", [](Program& program, const PassContext&) { plan_memory(program); }, true},
};

// The pass that the flag lowering__excluding names, if any.
std::string excluded_pass() {
  std::string name = config::get("lowering__excluding");
  std::vector<std::string> optional;
  for (const Pass& pass : passes_of_programs)
    if (!pass.plans_memory) optional.emplace_back(pass.name);
  if (!name.empty() && std::ranges::find(optional, name) == optional.end())
    throw ValueError(cat("lowering__excluding: expected one of ", join(optional, ", "), "; got `", name, "`"));
  return name;
}

using Observe = std::function<void(std::string_view pass)>;

// Runs the pass. Development builds verify the Program after each, so that a wrong pass is named.
void run(const Pass& pass, Program& program, const PassContext& context) {
#ifndef NDEBUG
  const bool compares = pass.keeps_orders && context.parallel;
  const Program before = compares ? program : Program();
  pass.run(program, context);
  program::verify(program, pass.plans_memory ? program::Stage::complete : program::Stage::without_memory);
  if (compares) program::verify_orders(before, program);
#else
  pass.run(program, context);
#endif
}

}  // namespace

void make_steps(Definitions& definitions, const Observe& observe) {
  auto& program = definitions.program;
  definitions.choose_stores();       // what is stored; all else is inlined into its readers
  definitions.build_computations();  // the expressions of what is stored
  drop_overwritten(program, definitions.declare, definitions.computations);
  build_nests(program, definitions.declare, definitions.computations);  // which computations share a loop
  observe("nest");
  const PassContext context{definitions.declare, definitions.equal_lengths, false};
  for (const Pass& pass : passes_of_steps) {
    throw_if_interrupted();
    pass.run(program, context);
    observe(pass.name);
  }
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
  const PassContext context{declare, definitions.equal_lengths, parallel};
  const std::string excluded = excluded_pass();
  for (const Pass& pass : passes_of_programs) {
    if (pass.name == excluded) continue;
    throw_if_interrupted();
    run(pass, program, context);
    observe(pass.name);
  }
#ifdef NDEBUG
  program::verify(program);
#endif
  std::vector<Maker> makers = makers_of(definitions.computations);
  std::vector<Apply> check_nodes;
  for (auto& check : definitions.computations.checks) check_nodes.push_back(check.node);
  return {std::move(program), std::move(definitions.callbacks), std::move(check_nodes), std::move(makers)};
}

}  // namespace bitale::lowering
