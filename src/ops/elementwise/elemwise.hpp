// Elemwise: a scalar op applied to every element of tensors of equal rank, broadcast where a length is statically 1.
#pragma once

#include "bitale/graph/op.hpp"
#include "bitale/graph/structure.hpp"
#include "graph/batch.hpp"
#include "graph/dependencies.hpp"
#include "graph/support.hpp"
#include "ops/elementwise/scalar_op.hpp"
#include "ops/inplace.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

class Elemwise final : public Op,
                       public InplaceForms,
                       public StatesStructure,
                       public StatesSupport,
                       public StatesDependencies,
                       public VectorizesAlong,
                       public EmitsTensors {
 public:
  explicit Elemwise(const ScalarOp& scalar, int inplace = -1) : scalar(scalar), inplace(inplace) {}
  const ScalarOp& scalar;
  const int inplace;  // the input that the result overwrites, or -1

  const ScalarOp* elementwise() const override { return &scalar; }
  std::string_view name() const override { return "Elemwise"; }
  Attributes attributes() const override;
  std::string label() const override;
  Apply make_node(std::span<const Variable> inputs) const override;
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override;
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override;
  bool emit(Lowering& to, const Apply& node) const override;
  void emit_tensors(TensorLowering& to, const Apply& node) const override;
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override;
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override;
  bool has_pushforward() const override { return true; }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override;
  Apply vectorize_along(const Batch& batch) const override;
  std::optional<Array> dependencies(const Apply& node, int output, InputDependencies& inputs) const override;
  Range range(const Apply& node, int output, InputRanges& inputs) const override;
  ComplexForm complex_form() const override { return ComplexForm::own; }
  PartsOfOutputs complex_parts(const Apply& node, std::span<const ComplexParts> inputs) const override;
  Structure structure(const Apply& node, int output, InputStructures& inputs) const override;
  std::vector<int> support_carriers(const Apply& node, int output) const override;
  Support support(const Apply& node, int output, std::span<const Support> inputs) const override;
  std::vector<int> destroys(const Apply& node, int output) const override;
  OpRef inplace_on_inputs(const Apply& node, std::span<const int> allowed) const override;

 private:
  std::string kind_name() const override;
};

// Whether the operand is repeated along this axis.
inline bool broadcasts(const Variable& input, std::size_t axis) { return input.static_shape()[axis] == 1; }
// The shared Elemwise instance of a record.
const OpRef& elemwise(std::string_view scalar_name);
// The inputs, padded in front with dimensions of length 1 to a common rank.
Variables pad_ranks(std::span<const Variable> inputs);
// The inputs, with the width of literals (graph/literal.hpp) where all values are literals and the result is an
// integer.
Variables with_literal_widths(const ScalarOp& scalar, std::span<const Variable> inputs);
// Applies the Elemwise of a record after padding ranks.
Variable apply_elemwise(std::string_view scalar_name, std::span<const Variable> inputs);
// Converts integers to the floats that functions such as exp return: float32 up to 16 bits, otherwise float64.
Variable as_float(const Variable& x);
// Whether each element is not zero; a bool as it is.
Variable truth(const Variable& x);
// The dtypes in which an Elemwise node computes, and that of its result. Operands of another dtype are converted first.
ScalarTypes scalar_types(const Apply& node);
// Bounds of the record's values, given those of its operands.
Range range_of_scalar(const ScalarOp& scalar, Ranges operands, DType out);
// The record of an Elemwise node, or nullptr.
const ScalarOp* scalar_op_of(const Variable& output);

}  // namespace bitale
