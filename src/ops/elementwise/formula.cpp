// FormulaOp creates an OpFromGraph from what a function returns for leaves of the inputs' types.
#include "bitale/ops/formula.hpp"

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale {

OpRef FormulaOp::op(const Operands& inputs) const {
  Variables leaves;
  for (auto& input : inputs.variables) leaves.emplace_back(input.type(), input.name());
  return op_from_graph(leaves, formula_(leaves).variables, options_);
}

Variable FormulaOp::operator()(const Operands& inputs) const {
  const Variables made = outputs(inputs);
  if (made.size() != 1)
    throw ValueError(cat("the formula of ", options_.name.empty() ? "an op" : options_.name, " gives ", made.size(),
                         " outputs: call outputs() for all of them"));
  return made[0];
}

}  // namespace bitale
