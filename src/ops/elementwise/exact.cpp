#include "ops/elementwise/exact.hpp"

#include <cmath>
#include <span>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/traversal.hpp"
#include "ops/elementwise/elemwise.hpp"

namespace bitale {

namespace {

using exact::Number;

ExactValue number_if_finite(double value) { return std::isfinite(value) ? ExactValue(value) : ExactValue(); }

}  // namespace

std::string without_exact_form(const Variable& expression) {
  for (auto& v : ancestors(std::span(&expression, 1))) {
    if (!v.has_owner()) continue;
    const ScalarOp* op = scalar_op_of(v);
    if (!op) return v.owner_op()->label();
    if (!op->has_condition && !op->exact) return std::string(op->name);
  }
  return {};
}

ExactValue exact_value(const Variable& expression, const ExactLeaves& leaves) {
  std::unordered_map<const VariableNode*, ExactValue> values;
  for (auto& v : ancestors(std::span(&expression, 1))) {
    ExactValue& value = values[v.node()];
    if (auto leaf = leaves.find(v.node()); leaf != leaves.end()) {
      value = number_if_finite(leaf->second);
    } else if (v.is_constant()) {
      value = number_if_finite(v.constant()->item());
    } else if (v.has_owner()) {
      const ScalarOp* op = scalar_op_of(v);
      const Variables operands = v.owner().inputs();
      if (op && op->has_condition) {  // the branch that is not taken may have no value
        const ExactValue condition = values.at(operands[0].node());
        if (condition) value = values.at(operands[*condition == 0 ? 2 : 1].node());
        continue;
      }
      std::vector<Number> inputs;
      for (auto& operand : operands)
        if (const ExactValue part = values.at(operand.node())) inputs.push_back(*part);
      if (inputs.size() != operands.size()) continue;
      if (!op || !op->exact) throw InternalError(cat("no exact form of ", v.owner_op()->label()));
      value = op->exact(inputs);
    }
  }
  return values.at(expression.node());
}

}  // namespace bitale
