// Ops that are formulas over other ops are replaced by them, first of all passes. A formula may use such ops again; one
// that never comes to an end is refused.
#include "bitale/core/error.hpp"
#include "bitale/core/location.hpp"
#include "bitale/core/text.hpp"
#include "bitale/rewriting/passes.hpp"
#include "graph/evaluate.hpp"
#include "graph/expansion.hpp"

namespace bitale::rewriting {

namespace {

constexpr int largest_depth = 100;  // of formulas in formulas

Variables expanded(const Apply& node, const Expansion& op) {
  const LocationScope place(node.provenance().where);
  try {
    return op.expansion(node).value_or(Variables());
  } catch (Error& error) {
    add_node_context(error, node, {});
    throw;
  } catch (...) {
    describe_foreign_error(node, {});
    throw;
  }
}

void expand(FunctionGraph& graph) {
  const RuleScope scope("expand");
  for (int depth = 0;; ++depth) {
    std::vector<std::pair<Variable, Variable>> pairs;
    for (auto& node : graph.toposort()) {
      const auto* op = dynamic_cast<const Expansion*>(&node.op());
      if (!op) continue;
      if (depth == largest_depth) {
        ValueError error(cat(node.op().label(), ": its formula uses the op itself, ", depth, " times over"));
        add_node_context(error, node, {});
        throw error;
      }
      const Variables formula = expanded(node, *op);
      for (std::size_t k = 0; k < formula.size(); ++k) pairs.emplace_back(node.output(int(k)), formula[k]);
    }
    if (pairs.empty() || !graph.replace_all(pairs, "expand")) return;
  }
}

const RegisterPasses register_expand({
    {"expand",
     0.1,
     {"fast_run", "fast_compile"},
     "An op that is a formula over other ops becomes the formula: an op written in Python with `emit`.",
     expand},
});

}  // namespace

}  // namespace bitale::rewriting
