// Nodes on complex tensors become nodes on their real and imaginary parts, before all rules: so rules, lowering and
// code know real numbers only. What is left of complex tensors are views of the inputs' memory as pairs, the pairs of
// constants and of what the host computes, and one node per result that puts its parts into memory.
#include <algorithm>

#include "bitale/core/location.hpp"
#include "bitale/rewriting/passes.hpp"
#include "bitale/rewriting/rules.hpp"
#include "graph/evaluate.hpp"
#include "ops/complex.hpp"

namespace bitale::rewriting {

namespace {

bool is_complex_node(const Apply& node) {
  return node.op().complex_form() != ComplexForm::memory && touches_complex(node);
}

// What stands for the outputs. Nothing: the op has no formula of parts.
Replacements split(const Apply& node) {
  const LocationScope place(node.provenance().where);
  std::vector<ComplexParts> inputs;
  for (auto& input : node.inputs()) inputs.push_back(parts_of(input));
  const PartsOfOutputs parts = with_node_context(node, [&] { return parts_of_outputs(node, inputs); });
  Replacements out;
  for (std::size_t k = 0; parts && k < parts->size(); ++k) {
    const Variable output = node.output(int(k));
    const Variable made = is_complex(output) ? complex_of((*parts)[k]) : (*parts)[k].real;
    out.emplace_back(output, fit(made, output).value_or(made));
  }
  return out;
}

void split_complex(FunctionGraph& graph) {
  const auto nodes = graph.toposort();
  if (std::none_of(nodes.begin(), nodes.end(), is_complex_node)) return;
  const RuleScope scope("split_complex");
  // One after the other: each finds the parts of what it reads.
  for (auto& node : nodes)
    if (graph.contains(node) && is_complex_node(node)) graph.replace_all(split(node), "split_complex");
}

const RegisterPasses register_split_complex({
    {"split_complex",
     0.15,
     {"fast_run", "fast_compile"},
     "A node on complex tensors becomes nodes on their real and imaginary parts, which are all that rules and native "
     "code compute with.",
     split_complex},
});

}  // namespace

}  // namespace bitale::rewriting
