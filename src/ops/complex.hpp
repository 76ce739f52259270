// Complex numbers as pairs of real ones: the two ops that native code has for complex memory, and what other ops need
// to speak of parts.
#pragma once

#include "bitale/graph/inner_graph.hpp"
#include "bitale/graph/op.hpp"
#include "bitale/ops/complex.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

// A complex tensor as a real one with another axis, of length 2, behind all others: a view.
class AsPairs final : public Op, public EmitsTensors {
 public:
  std::string_view name() const override { return "AsPairs"; }
  ComplexForm complex_form() const override { return ComplexForm::memory; }
  Apply make_node(std::span<const Variable> inputs) const override;
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override;
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override;
  bool emit(Lowering& to, const Apply& node) const override;
  void emit_tensors(TensorLowering& to, const Apply& node) const override;
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override;
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override;
  bool has_pushforward() const override { return true; }
  Apply vectorize(const Apply& node, std::span<const Variable> batched) const override;
  std::vector<int> view_of(const Apply&, int) const override { return {0}; }
  Range range(const Apply&, int, InputRanges&) const override;
};

// Two real tensors of one shape and dtype as the parts of a complex one.
class Complex final : public Op, public EmitsTensors {
 public:
  std::string_view name() const override { return "Complex"; }
  ComplexForm complex_form() const override { return ComplexForm::memory; }
  Apply make_node(std::span<const Variable> inputs) const override;
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override;
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override;
  bool emit(Lowering& to, const Apply& node) const override;
  void emit_tensors(TensorLowering& to, const Apply& node) const override;
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override;
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override;
  bool has_pushforward() const override { return true; }
  Apply vectorize(const Apply& node, std::span<const Variable> batched) const override;
  PartsOfOutputs complex_parts(const Apply& node, std::span<const ComplexParts> inputs) const override;
};

// The parts of a variable: of a real one itself and nothing; of a constant constants; of what was made of parts, those;
// of any other, views of its memory.
ComplexParts parts_of(const Variable& variable);
// The complex variable with these parts; a real part without imaginary one becomes complex as well.
Variable complex_of(const ComplexParts& parts);
// The imaginary part, 0 where there is none.
Variable imaginary(const ComplexParts& parts);
// What both parts together say about the gradient of a real function: d / d real + i d / d imag, as PyTensor defines
// the gradient by a complex variable. A node's pullback and pushforward through the formulas of its parts.
Variables pullback_through_parts(const Apply& node, std::span<const Variable> cotangents);
Variables pushforward_through_parts(const Apply& node, std::span<const Variable> tangents);
// The formulas of a node's outputs, in terms of the parts of its inputs, with what its op says about itself.
PartsOfOutputs parts_of_outputs(const Apply& node, std::span<const ComplexParts> inputs);
// One after the other: the real part of each, followed by the imaginary one of those that are complex; and back.
Variables row_of_parts(std::span<const Variable> variables, std::span<const ComplexParts> parts);
std::vector<ComplexParts> joined_parts(std::span<const Variable> variables, std::span<const Variable> row);
// The graph that computes the parts of the outputs from the parts of the inputs, which are in place of these. Its nodes
// are still on complex tensors.
InnerGraphRef graph_of_parts(const InnerGraph& graph);
// Converted to the dtype of an input's gradient: of a real input, only the real part counts.
Variable as_gradient(const Variable& value, const Variable& input);

}  // namespace bitale
