// Scalar expressions evaluated with 450 digits and a huge exponent range: what both sides of an equation should be.
// There is no exact value where the mathematics has none (a division by zero, a logarithm of a negative number).
#pragma once

#include <boost/math/constants/constants.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/traversal.hpp"
#include "ops/elemwise.hpp"

namespace bitale::exact {

using Number = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<450>, boost::multiprecision::et_off>;
using Value = std::optional<Number>;

inline bool is_tiny(const Number& x) { return abs(x) < Number(1e-30); }
inline Number expm1_of(const Number& x) { return is_tiny(x) ? x + x * x / 2 + x * x * x / 6 : exp(x) - 1; }
inline Number log1p_of(const Number& x) { return is_tiny(x) ? x - x * x / 2 + x * x * x / 3 : log(1 + x); }

inline Number erfc_of(const Number& x);
inline Number erf_of(const Number& x) {
  if (x < 0) return -erf_of(-x);
  if (x > 4) return 1 - erfc_of(x);
  // The alternating series; the terms grow to e^16 before they fall, which costs 7 digits.
  Number term = x, total = x;
  for (int n = 1; n < 2000 && abs(term) > Number("1e-130"); ++n) {
    term *= -x * x / n;
    total += term / (2 * n + 1);
  }
  return total * 2 / sqrt(boost::math::constants::pi<Number>());
}
inline Number erfc_of(const Number& x) {
  if (x < 4) return 1 - erf_of(x);
  Number fraction = x;  // x + (1/2)/(x + (2/2)/(x + ...)), from the far end
  for (int n = 3000; n > 0; --n) fraction = x + Number(n) / 2 / fraction;
  return exp(-x * x) / fraction / sqrt(boost::math::constants::pi<Number>());
}

inline Value power(const Number& x, const Number& y) {
  const bool whole = y == floor(y);
  if (x == 0) return y > 0 ? Value(0) : y == 0 ? Value(1) : Value();
  if (x < 0 && !whole) return {};
  if (abs(y) > Number(1e6)) return {};
  const Number size = exp(y * log(abs(x)));
  return x < 0 && floor(y / 2) * 2 != y ? -size : size;
}

// KeyError for an operation that has no exact form here.
inline Value apply_exact(std::string_view op, const std::vector<Number>& a) {
  const Number& x = a[0];
  const bool overflows = abs(x) > Number(1e8);
  if (op == "add") return x + a[1];
  if (op == "sub") return x - a[1];
  if (op == "mul") return x * a[1];
  if (op == "true_div") return a[1] == 0 ? Value() : Value(x / a[1]);
  if (op == "reciprocal") return x == 0 ? Value() : Value(1 / x);
  if (op == "neg") return -x;
  if (op == "abs") return abs(x);
  if (op == "sign") return x > 0 ? Number(1) : x < 0 ? Number(-1) : Number(0);
  if (op == "sqr") return x * x;
  if (op == "sqrt") return x < 0 ? Value() : Value(sqrt(x));
  if (op == "pow") return power(x, a[1]);
  if (op == "exp") return overflows ? Value() : Value(exp(x));
  if (op == "exp2") return overflows ? Value() : Value(exp(x * log(Number(2))));
  if (op == "expm1") return overflows ? Value() : Value(expm1_of(x));
  if (op == "log") return x <= 0 ? Value() : Value(log(x));
  if (op == "log2") return x <= 0 ? Value() : Value(log(x) / log(Number(2)));
  if (op == "log1p") return x <= -1 ? Value() : Value(log1p_of(x));
  if (op == "sigmoid") return overflows ? Value() : Value(1 / (1 + exp(-x)));
  if (op == "softplus") return overflows ? Value() : Value(log1p_of(exp(x)));
  if (op == "sinh") return overflows ? Value() : Value((expm1_of(x) - expm1_of(-x)) / 2);
  if (op == "cosh") return overflows || (x != 0 && abs(x) < Number(1e-200)) ? Value() : Value((exp(x) + exp(-x)) / 2);
  if (op == "tanh") return overflows ? Value() : Value(expm1_of(2 * x) / (exp(2 * x) + 1));
  if (op == "arcsinh")
    return x < 0 ? Value(-log1p_of(-x + x * x / (1 + sqrt(1 + x * x))))
                 : Value(log1p_of(x + x * x / (1 + sqrt(1 + x * x))));
  if (op == "arccosh") return x < 1 ? Value() : Value(log(x + sqrt(x * x - 1)));
  if (op == "log1mexp") return x >= 0 ? Value() : Value(log(-expm1_of(x)));
  if (op == "arctanh") return abs(x) >= 1 ? Value() : Value((log1p_of(x) - log1p_of(-x)) / 2);
  if (op == "erf") return overflows ? Value() : Value(erf_of(x));
  if (op == "erfc") return overflows ? Value() : Value(erfc_of(x));
  if (op == "maximum") return x > a[1] ? x : a[1];
  if (op == "minimum") return x < a[1] ? x : a[1];
  if (op == "ge") return Number(x >= a[1] ? 1 : 0);
  if (op == "eq") return Number(x == a[1] ? 1 : 0);
  if (op == "isinf") return Number(0);
  if (op.starts_with("cast_float")) return x;
  throw KeyError(cat("no exact form of ", op));
}

// The value of a 0-d elementwise expression, given its leaves' values.
inline Value evaluate(const Variable& expression, const std::unordered_map<const VariableNode*, double>& leaves) {
  std::unordered_map<const VariableNode*, Value> values;
  for (auto& v : ancestors(std::span(&expression, 1))) {
    Value& value = values[v.node()];
    if (auto leaf = leaves.find(v.node()); leaf != leaves.end()) {
      if (std::isfinite(leaf->second)) value = Number(leaf->second);
    } else if (v.is_constant()) {
      if (std::isfinite(v.constant()->item())) value = Number(v.constant()->item());
    } else if (v.has_owner()) {
      std::vector<Number> inputs;
      bool all = true;
      const ScalarOp* op = scalar_op_of(v);
      if (!op) throw KeyError(cat("no exact form of ", v.owner_op()->label()));
      const auto operands = v.owner().inputs();
      if (op->name == "switch") {
        const Value condition = values.at(operands[0].node());
        if (condition) value = values.at(operands[*condition != 0 ? 1 : 2].node());
        continue;
      }
      for (auto& operand : operands) {
        const Value part = values.at(operand.node());
        all &= part.has_value();
        if (part) inputs.push_back(*part);
      }
      if (all) value = apply_exact(op->name, inputs);
    }
  }
  return values.at(expression.node());
}

}  // namespace bitale::exact
