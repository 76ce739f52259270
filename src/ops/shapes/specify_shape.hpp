// SpecifyShape: x, with the assertion, checked at run time, that some of its dimensions have given lengths.
#pragma once

#include "bitale/graph/op.hpp"
#include "bitale/graph/structure.hpp"
#include "ops/analysis/support_masks.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

// Inputs: x, then one integer scalar per entry of `axes`.
class SpecifyShape final : public OpOf<SpecifyShape>,
                           public StatesStructure,
                           public MovesElements,
                           public EmitsTensors {
 public:
  explicit SpecifyShape(std::vector<int> axes) : axes(std::move(axes)) {}

  std::vector<int> axes;  // whose lengths are given, ascending
  static constexpr auto fields = attribute_list(attribute("axes", &SpecifyShape::axes));

  std::string_view name() const override { return "SpecifyShape"; }
  ComplexForm complex_form() const override { return ComplexForm::by_parts; }
  std::string label() const override { return "SpecifyShape"; }
  Apply make_node(std::span<const Variable> inputs) const override;
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override;
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override;
  bool emit(Lowering& to, const Apply& node) const override;
  void emit_tensors(TensorLowering& to, const Apply& node) const override;
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override;
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override;
  bool has_pushforward() const override { return true; }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override;
  Apply vectorize(const Apply& node, std::span<const Variable> batched) const override;
  Structure structure(const Apply& node, int output, InputStructures& inputs) const override;
  std::vector<int> view_of(const Apply& node, int output) const override;
};

}  // namespace bitale
