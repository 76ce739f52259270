// Ops that are defined by a graph are replaced by it, unless they are not to be.
#include "ops/op_from_graph.hpp"

#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

std::optional<Variables> inlined(FunctionGraph&, const Apply& node) {
  const auto& op = dynamic_cast<const OpFromGraph&>(node.op());
  if (!op.options().is_inline) return std::nullopt;
  Variables out = op.inner_graph()->applied_to(node.inputs());
  for (std::size_t k = 0; k < out.size(); ++k) {
    const std::optional<Variable> value = fit(out[k], node.output(int(k)));
    if (!value) return std::nullopt;
    out[k] = *value;
  }
  return out;
}

// As a rule sample has it: exp(x) * y by an op of one output.
Variable sample_application(bool is_nested) {
  const Variable x = sample_vector(), y = vector("y");
  OpRef op = op_from_graph({x, y}, {exp(x) * y});
  if (is_nested) op = op_from_graph({x, y}, {apply_op(op, {x + y, y})[0] - x});
  return apply_op(op, {sample_vector(), sin(sample_vector())})[0];
}

void declare_op_from_graph(Rules& rules) {
  rules.function("inline_op_from_graph", Root::op({"OpFromGraph"}), inlined)
      .doc("An op that is defined by a graph is replaced by the graph, unless it was made with inline=False.")
      .tags(useless, canonicalize, specialize, structural, "inline_ofg_expansion")
      .priority(10)
      .sample([] { return sample_application(false); })
      .sample([] { return sample_application(true); });
}

const RegisterRules register_op_from_graph("op_from_graph", declare_op_from_graph);

}  // namespace

}  // namespace bitale::rewriting
