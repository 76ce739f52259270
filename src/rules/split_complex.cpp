// Nodes on complex tensors are split into nodes on real and imaginary parts before all rules, so that rules, lowering
// and code generation see only real numbers. The remaining complex tensors are views of the inputs' memory as pairs,
// the pairs of constants and of values that the host computes, and one node per result that stores its parts.
#include <algorithm>

#include "bitale/core/location.hpp"
#include "bitale/graph/inner_graph.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/rewriting/passes.hpp"
#include "bitale/rewriting/rules.hpp"
#include "graph/evaluate.hpp"
#include "ops/complex/complex.hpp"
#include "rewriting/inner_graphs.hpp"

namespace bitale::rewriting {

namespace {

bool is_complex_node(const Apply& node) {
  return node.op().complex_form() != ComplexForm::memory && touches_complex(node);
}

// The replacements of the outputs; none if the op has no formula for parts.
Replacements split(const Apply& node) {
  const LocationScope here(node.provenance().where);
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

// The op's inner graph if it has nodes on complex tensors, else null.
const InnerGraph* complex_inner_graph(const Apply& node) {
  const InnerGraph* inner = node.op().elementwise() ? nullptr : inner_graph_of(node.op());
  if (!inner) return nullptr;
  const auto is_concerned = [](const Apply& each) { return is_complex_node(each) || complex_inner_graph(each); };
  const auto order = toposort(inner->outputs());
  return std::any_of(order.begin(), order.end(), is_concerned) ? inner : nullptr;
}

void split_complex(FunctionGraph& graph) {
  const auto nodes = graph.toposort();
  const auto is_concerned = [](const Apply& node) { return is_complex_node(node) || complex_inner_graph(node); };
  if (std::none_of(nodes.begin(), nodes.end(), is_concerned)) return;
  const RuleScope scope("split_complex");
  // One node at a time, so that each finds the parts of its inputs. The conversion that makes a formula fit may itself
  // be a node on complex tensors.
  for (bool changed = true; changed;) {
    changed = false;
    for (auto& node : graph.toposort())
      if (graph.contains(node) && is_complex_node(node))
        if (const Replacements parts = split(node); !parts.empty()) {
          graph.replace_all(parts, "split_complex");
          changed = true;
        }
  }
  for (auto& node : graph.toposort())
    if (const InnerGraph* before = complex_inner_graph(node)) {
      FunctionGraph inner(before->inputs(), before->outputs());
      split_complex(inner);
      auto after = make_ref<InnerGraph>(inner.inputs(), inner.outputs());
      if (!after->equals(*before)) replace_inner_graph(graph, node, std::move(after));
    }
}

const RegisterPasses register_split_complex({
    {"split_complex",
     0.15,
     {"fast_run", "fast_compile"},
     "Splits operations on complex tensors into operations on their real and imaginary parts, the only form that rules "
     "and native code support.",
     split_complex},
});

}  // namespace

}  // namespace bitale::rewriting
