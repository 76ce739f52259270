// Ops that are formulas over other ops (Expansion) are replaced by their formulas before all other passes. A formula
// may contain such ops again; one that never terminates is rejected.
#include "bitale/core/error.hpp"
#include "bitale/core/location.hpp"
#include "bitale/core/text.hpp"
#include "bitale/rewriting/passes.hpp"
#include "bitale/rewriting/rules.hpp"
#include "graph/evaluate.hpp"
#include "graph/expansion.hpp"

namespace bitale::rewriting {

namespace {

constexpr int largest_depth = 100;  // of nested formulas

Variables expanded(const Apply& node, const Expansion& op) {
  const LocationScope here(node.provenance().where);
  return with_node_context(node, [&] { return op.expansion(node).value_or(Variables()); });
}

// The node's replacements, converted to the types that its clients were built for.
Replacements with_fitted_formula(const Apply& node, const Variables& formula) {
  Replacements pairs;
  for (std::size_t k = 0; k < formula.size(); ++k) {
    const Variable output = node.output(int(k));
    pairs.emplace_back(output, fit(formula[k], output).value_or(formula[k]));
  }
  return pairs;
}

void expand(FunctionGraph& graph) {
  const RuleScope scope("expand");
  for (int depth = 0;; ++depth) {
    bool changed = false;
    // In topological order, one node at a time: a formula is built over the node's current inputs.
    for (auto& node : graph.toposort()) {
      const auto* op = node.op().elementwise() ? nullptr : dynamic_cast<const Expansion*>(&node.op());
      if (!op || !graph.contains(node)) continue;
      if (depth == largest_depth) {
        ValueError error(cat(node.op().label(), ": its formula uses the op itself, ", depth, " times over"));
        add_node_context(error, node, {});
        throw error;
      }
      changed |= graph.replace_all(with_fitted_formula(node, expanded(node, *op)), "expand");
    }
    if (!changed) return;
  }
}

const RegisterPasses register_expand({
    {"expand",
     0.1,
     {"fast_run", "fast_compile", "inline_ofg_expansion"},
     "Replaces an op that is defined by a graph of other ops by that graph: an inlined OpFromGraph, or an op written "
     "in Python with `emit`.",
     expand},
});

}  // namespace

}  // namespace bitale::rewriting
