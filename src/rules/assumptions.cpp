// Statements about matrices (assume) are turned into facts that the graph keeps. Their nodes then no longer hide the
// patterns that rules match, and the matrix is a single variable wherever the statements were made.
#include "bitale/ops/assume.hpp"
#include "bitale/rewriting/passes.hpp"
#include "bitale/rewriting/rules.hpp"
#include "rules/matrices.hpp"

namespace bitale::rewriting {

namespace {

void drain(FunctionGraph& graph) {
  const RuleScope scope("drain_specify_assumptions");
  Variables stated;
  Replacements pairs;
  for (std::size_t slot = 0; slot < graph.slot_count(); ++slot) {
    const Apply node = graph.at_slot(slot);
    if (!node.defined() || node.output_count() != 1) continue;
    const auto facts = stated_facts(node.output());
    if (!facts) continue;
    const Variable x = without_statements(node.output());
    add_statement(graph, x, *facts);
    stated.push_back(x);
    pairs.emplace_back(node.output(), x);
  }
  if (pairs.empty()) return;
  graph.replace_all(pairs, "drain_specify_assumptions");
  for (auto& x : stated)
    if (graph.contains(x)) structure_of(graph, x);  // an error where statements contradict what is known
}

const RegisterPasses register_drain({
    {"drain_specify_assumptions",
     0.8,
     {"fast_run", "fast_compile"},
     "Records what `assume` states about a matrix as a fact in the graph, and removes the node.",
     drain},
});

}  // namespace

}  // namespace bitale::rewriting
