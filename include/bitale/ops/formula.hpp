// A user-defined op that is a formula over other ops. The function is called with leaves of the inputs' types, and its
// result is the graph of an op (op_from_graph), which is one node until it is inlined.
//
//   const FormulaOp soft_clip([](const Variables& in) { return tanh(in[0] / 2) * 2; }, {.name = "SoftClip"});
//   auto y = soft_clip({x});
#pragma once

#include <functional>
#include <utility>

#include "bitale/ops/op_from_graph.hpp"

namespace bitale {

class FormulaOp {
 public:
  // The result of a formula: one variable, or several.
  struct Outputs {
    Outputs(Variable output) : variables{std::move(output)} {}
    Outputs(Variables outputs) : variables(std::move(outputs)) {}
    Variables variables;
  };
  using Formula = std::function<Outputs(const Variables& inputs)>;

  explicit FormulaOp(Formula formula, OpFromGraphOptions options = {})
      : formula_(std::move(formula)), options_(std::move(options)) {}

  // The op for inputs of these types. Ops for equal types are equal. MissingInputError for a formula that uses a
  // variable other than its inputs.
  OpRef op(const Operands& inputs) const;
  // The outputs of the op applied to the inputs.
  Variables outputs(const Operands& inputs) const { return apply_op(op(inputs), inputs); }
  // The only output of the op applied to the inputs. ValueError where there are several.
  Variable operator()(const Operands& inputs) const;

 private:
  Formula formula_;
  OpFromGraphOptions options_;
};

}  // namespace bitale
