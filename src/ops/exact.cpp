#include "ops/exact.hpp"

#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/traversal.hpp"
#include "ops/elemwise.hpp"

namespace bitale {

namespace {

using exact::Number;
using Args = std::span<const Number>;

bool overflows(const Number& x) { return abs(x) > 1e8; }
bool is_whole(const Number& x) { return x == floor(x); }

ExactValue power(const Number& x, const Number& y) {
  if (x == 0) return y > 0 ? ExactValue(0) : y == 0 ? ExactValue(1) : ExactValue();
  if ((x < 0 && !is_whole(y)) || abs(y) > 1e6) return {};
  const Number size = exp(y * log(abs(x)));
  return x < 0 && !is_whole(y / 2) ? -size : size;
}

// asinh of a non-negative number.
Number area_of(const Number& x) { return log1p(x + x * x / (1 + sqrt(1 + x * x))); }

// A function that grows or saturates exponentially.
template <Number (*f)(const Number&)>
ExactValue bounded(Args a) {
  return overflows(a[0]) ? ExactValue() : ExactValue(f(a[0]));
}

Number truth(bool value) { return value ? 1 : 0; }

struct Row {
  std::string_view name;
  ExactValue (*value)(Args);
};
const Row rows[] = {
    {"add", [](Args a) -> ExactValue { return a[0] + a[1]; }},
    {"sub", [](Args a) -> ExactValue { return a[0] - a[1]; }},
    {"mul", [](Args a) -> ExactValue { return a[0] * a[1]; }},
    {"true_div", [](Args a) { return a[1] == 0 ? ExactValue() : ExactValue(a[0] / a[1]); }},
    {"reciprocal", [](Args a) { return a[0] == 0 ? ExactValue() : ExactValue(1 / a[0]); }},
    {"neg", [](Args a) -> ExactValue { return -a[0]; }},
    {"abs", [](Args a) -> ExactValue { return abs(a[0]); }},
    {"sign", [](Args a) -> ExactValue { return a[0] > 0   ? Number(1)
                                               : a[0] < 0 ? Number(-1)
                                                          : Number(0); }},
    {"sqr", [](Args a) -> ExactValue { return a[0] * a[0]; }},
    {"sqrt", [](Args a) { return a[0] < 0 ? ExactValue() : ExactValue(sqrt(a[0])); }},
    {"pow", [](Args a) { return power(a[0], a[1]); }},
    {"exp", bounded<exact::exp>},
    {"exp2", bounded<[](const Number& x) { return exp(x * log(2)); }>},
    {"expm1", bounded<exact::expm1>},
    {"log", [](Args a) { return a[0] <= 0 ? ExactValue() : ExactValue(log(a[0])); }},
    {"log2", [](Args a) { return a[0] <= 0 ? ExactValue() : ExactValue(log(a[0]) / log(2)); }},
    {"log10", [](Args a) { return a[0] <= 0 ? ExactValue() : ExactValue(log(a[0]) / log(10)); }},
    {"log1p", [](Args a) { return a[0] <= -1 ? ExactValue() : ExactValue(log1p(a[0])); }},
    {"log1mexp", [](Args a) { return a[0] >= 0 ? ExactValue() : ExactValue(log(-expm1(a[0]))); }},
    {"hypot", [](Args a) -> ExactValue { return Number(sqrt(a[0] * a[0] + a[1] * a[1])); }},
    {"xlogy",
     [](Args a) {
       if (a[0] == 0) return ExactValue(Number(0));
       return a[1] <= 0 ? ExactValue() : ExactValue(Number(a[0] * log(a[1])));
     }},
    {"xlog1py",
     [](Args a) {
       if (a[0] == 0) return ExactValue(Number(0));
       return a[1] <= -1 ? ExactValue() : ExactValue(Number(a[0] * log1p(a[1])));
     }},
    {"sigmoid", bounded<[](const Number& x) { return 1 / (1 + exp(-x)); }>},
    {"softplus", bounded<[](const Number& x) { return log1p(exp(x)); }>},
    {"sin", bounded<exact::sin>},
    {"cos", bounded<exact::cos>},
    {"tan", [](Args a) { return overflows(a[0]) ? ExactValue() : ExactValue(sin(a[0]) / cos(a[0])); }},
    {"arctan", [](Args a) -> ExactValue { return atan(a[0]); }},
    {"sinh", bounded<[](const Number& x) { return (expm1(x) - expm1(-x)) / 2; }>},
    {"cosh",
     [](Args a) {
       const bool tiny = !(a[0] == 0) && abs(a[0]) < 1e-200;
       return overflows(a[0]) || tiny ? ExactValue() : ExactValue((exp(a[0]) + exp(-a[0])) / 2);
     }},
    {"tanh", bounded<[](const Number& x) { return expm1(2 * x) / (exp(2 * x) + 1); }>},
    {"arcsinh", [](Args a) -> ExactValue { return a[0] < 0 ? -area_of(-a[0]) : area_of(a[0]); }},
    {"arccosh", [](Args a) { return a[0] < 1 ? ExactValue() : ExactValue(log(a[0] + sqrt(a[0] * a[0] - 1))); }},
    {"arctanh", [](Args a) { return abs(a[0]) >= 1 ? ExactValue() : ExactValue((log1p(a[0]) - log1p(-a[0])) / 2); }},
    {"erf", bounded<exact::erf>},
    {"erfc", bounded<exact::erfc>},
    {"erfcx", [](Args a) { return abs(a[0]) > 1e3 ? ExactValue() : ExactValue(exp(a[0] * a[0]) * erfc(a[0])); }},
    {"maximum", [](Args a) -> ExactValue { return a[0] > a[1] ? a[0] : a[1]; }},
    {"minimum", [](Args a) -> ExactValue { return a[0] < a[1] ? a[0] : a[1]; }},
    {"lt", [](Args a) -> ExactValue { return truth(a[0] < a[1]); }},
    {"le", [](Args a) -> ExactValue { return truth(a[0] <= a[1]); }},
    {"gt", [](Args a) -> ExactValue { return truth(a[0] > a[1]); }},
    {"ge", [](Args a) -> ExactValue { return truth(a[0] >= a[1]); }},
    {"eq", [](Args a) -> ExactValue { return truth(a[0] == a[1]); }},
    {"isinf", [](Args) -> ExactValue { return Number(0); }},
};

const Row* row_of(const ScalarOp& op) {
  for (auto& row : rows)
    if (row.name == op.name) return &row;
  return nullptr;
}

bool is_float_cast(const ScalarOp& op) { return op.name.starts_with("cast_float"); }

ExactValue number_if_finite(double value) { return std::isfinite(value) ? ExactValue(value) : ExactValue(); }

}  // namespace

std::string without_exact_form(const Variable& expression) {
  for (auto& v : ancestors(std::span(&expression, 1))) {
    if (!v.has_owner()) continue;
    const ScalarOp* op = scalar_op_of(v);
    if (!op) return v.owner_op()->label();
    if (op->name != "switch" && !is_float_cast(*op) && !row_of(*op)) return std::string(op->name);
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
      if (op && op->name == "switch") {
        const ExactValue condition = values.at(operands[0].node());
        if (condition) value = values.at(operands[*condition == 0 ? 2 : 1].node());
        continue;
      }
      std::vector<Number> inputs;
      for (auto& operand : operands)
        if (const ExactValue part = values.at(operand.node())) inputs.push_back(*part);
      if (inputs.size() != operands.size()) continue;
      const Row* row = op ? row_of(*op) : nullptr;
      if (!row && !(op && is_float_cast(*op))) throw InternalError(cat("no exact form of ", v.owner_op()->label()));
      value = row ? row->value(inputs) : inputs[0];
    }
  }
  return values.at(expression.node());
}

}  // namespace bitale
