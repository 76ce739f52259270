// CheckMask returns a value after checking that a boolean mask is as long as the dimensions that it masks. If they
// differ, an IndexError names both lengths.
#pragma once

#include "bitale/graph/op.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

// Inputs: the value, the lengths of the mask, and equally many lengths of the masked dimensions.
class CheckMask final : public OpOf<CheckMask>, public EmitsTensors {
 public:
  explicit CheckMask(int axis) : axis(axis) {}

  int axis;  // the masked dimension that corresponds to the first one of the mask
  static constexpr auto fields = attribute_list(attribute("axis", &CheckMask::axis));

  std::string_view name() const override { return "CheckMask"; }
  ComplexForm complex_form() const override { return ComplexForm::by_parts; }
  std::string pprint_text(std::span<const std::string> inputs) const override { return inputs[0]; }
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
  std::vector<int> view_of(const Apply& node, int output) const override;
  bool may_fold(const Apply&) const override { return false; }  // the call must fail, not its compilation

  // The same check for another value.
  Variable of(const Apply& node, const Variable& value) const;
};

// `value`, with a check that the mask is as long as the dimensions of x from `axis` on. There is no check if all
// lengths are known to agree; lengths that are known to differ throw an IndexError.
Variable checked_mask(const Variable& value, const Variable& mask, const Variable& x, int axis);

}  // namespace bitale
