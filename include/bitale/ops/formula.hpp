// An op of one's own that is a formula over other ops: the function is called with leaves of the inputs' types, and
// what it gives is the graph of an op (op_from_graph), one node until it is inlined.
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
  // What a formula gives: one variable, or several.
  struct Outputs {
    Outputs(Variable output) : variables{std::move(output)} {}
    Outputs(Variables outputs) : variables(std::move(outputs)) {}
    Variables variables;
  };
  using Formula = std::function<Outputs(const Variables& inputs)>;

  explicit FormulaOp(Formula formula, OpFromGraphOptions options = {})
      : formula_(std::move(formula)), options_(std::move(options)) {}

  // The op for inputs of these types. Those of equal types are equal. MissingInputError for a formula that uses a
  // variable other than its inputs.
  OpRef op(const Operands& inputs) const;
  // Its outputs.
  Variables outputs(const Operands& inputs) const { return apply_op(op(inputs), inputs); }
  // Its only output. ValueError where there are several.
  Variable operator()(const Operands& inputs) const;

 private:
  Formula formula_;
  OpFromGraphOptions options_;
};

}  // namespace bitale
