// Removes a RuntimeBroadcast that has no effect: the lengths are known, or are the same.
#include "ops/shapes/runtime_broadcast.hpp"

#include "ops/analysis/lengths.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

std::optional<Variables> useless_runtime_broadcast(FunctionGraph&, const Apply& node) {
  const auto& op = *op_as<RuntimeBroadcast>(node.output());
  const Variable& value = node.input(0);
  const Shape wanted(node.inputs().begin() + 1, node.inputs().end());
  std::vector<int> axes;
  Variables inputs{value};
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    if (is_same_length(length_of(value, op.axes[k]), wanted[k])) continue;
    axes.push_back(op.axes[k]);
    inputs.push_back(wanted[k]);
  }
  if (axes.size() == op.axes.size()) return std::nullopt;
  if (axes.empty()) return one(fit(value, node.output()));
  return one(fit((*make_ref<RuntimeBroadcast>(axes, op.of_index))(inputs), node.output()));
}

void declare_runtime_broadcast(Rules& rules) {
  rules.function("useless_runtime_broadcast", Root::op({"RuntimeBroadcast"}), useless_runtime_broadcast)
      .doc("Removes a RuntimeBroadcast along dimensions that already have the requested length.")
      .tags(useless, canonicalize, specialize)
      .sample([] {
        const Variable x = sample_vector();
        return (*make_ref<RuntimeBroadcast>(std::vector<int>{0}, false))({x, shape_i(exp(x), 0)});
      });
}

const RegisterRules register_runtime_broadcast("runtime_broadcast", declare_runtime_broadcast);

}  // namespace

}  // namespace bitale::rewriting
