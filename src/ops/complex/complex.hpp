// Complex numbers as pairs of real ones: the two ops on complex memory that have native code, and functions with which
// other ops work on real and imaginary parts.
#pragma once

#include "bitale/graph/inner_graph.hpp"
#include "bitale/graph/op.hpp"
#include "bitale/ops/complex.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

// A view of a complex tensor as a real one, with an additional last axis of length 2.
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

// A complex tensor from its real and imaginary parts, two real tensors of equal shape and dtype.
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

// The parts of a variable. A real variable is its own real part and has no imaginary part; the parts of a constant are
// constants; the parts of a Complex node's output are that node's inputs; those of any other variable are views of its
// memory.
ComplexParts parts_of(const Variable& variable);
// The complex variable with these parts; a real part without an imaginary one becomes complex as well.
Variable complex_of(const ComplexParts& parts);
// The imaginary part, 0 where there is none.
Variable imaginary(const ComplexParts& parts);
// A node's pullback and pushforward through the formulas of its parts. A complex cotangent is the gradient of a real
// function, d / d real + i d / d imag, as PyTensor defines the gradient by a complex variable.
Variables pullback_through_parts(const Apply& node, std::span<const Variable> cotangents);
Variables pushforward_through_parts(const Apply& node, std::span<const Variable> tangents);
// The formulas of the parts of a node's outputs, in terms of the parts of its inputs, according to its op's
// `complex_form`.
PartsOfOutputs parts_of_outputs(const Apply& node, std::span<const ComplexParts> inputs);
// Flattens parts into one list: for each variable the real part, followed by the imaginary part if it is complex.
// `joined_parts` is the inverse.
Variables row_of_parts(std::span<const Variable> variables, std::span<const ComplexParts> parts);
std::vector<ComplexParts> joined_parts(std::span<const Variable> variables, std::span<const Variable> row);
// The graph that computes the parts of the outputs from the parts of the inputs, which replace the inputs. Its nodes
// still work on complex tensors.
InnerGraphRef graph_of_parts(const InnerGraph& graph);
// Converts a value to the dtype of an input's gradient: for a real input, only the real part counts.
Variable as_gradient(const Variable& value, const Variable& input);

}  // namespace bitale
