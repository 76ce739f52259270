// Shape: the lengths of a tensor as an int64 vector. Shape_i: one of them. Both depend on the lengths of the value, not
// on its elements: they have no derivative.
#pragma once

#include "bitale/graph/op.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

class ShapeOp final : public Op, public EmitsTensors {
 public:
  std::string_view name() const override { return "Shape"; }
  ComplexForm complex_form() const override { return ComplexForm::by_parts; }
  Apply make_node(std::span<const Variable> inputs) const override;
  Range range(const Apply& node, int output, InputRanges& inputs) const override;
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override;
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override;
  bool emit(Lowering& to, const Apply& node) const override;
  void emit_tensors(TensorLowering& to, const Apply& node) const override;
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override;
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override;
  bool has_pushforward() const override { return true; }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override;
  Apply vectorize(const Apply& node, std::span<const Variable> batched) const override;
};

class ShapeI final : public OpOf<ShapeI>, public EmitsTensors {
 public:
  explicit ShapeI(int i) : i(i) {}

  int i;
  static constexpr auto fields = attribute_list(attribute("i", &ShapeI::i));

  std::string_view name() const override { return "Shape_i"; }
  ComplexForm complex_form() const override { return ComplexForm::by_parts; }
  std::string label() const override { return "Shape_i{" + std::to_string(i) + "}"; }
  Apply make_node(std::span<const Variable> inputs) const override;
  Range range(const Apply& node, int output, InputRanges& inputs) const override;
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override;
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override;
  bool emit(Lowering& to, const Apply& node) const override;
  void emit_tensors(TensorLowering& to, const Apply& node) const override;
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override;
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override;
  bool has_pushforward() const override { return true; }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override;
  Apply vectorize(const Apply& node, std::span<const Variable> batched) const override;
};

}  // namespace bitale
