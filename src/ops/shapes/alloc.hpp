// Alloc: a tensor of the given lengths filled with a value, which broadcasts from the right where its length is
// statically 1. Inputs: the value, then one integer scalar per dimension.
#pragma once

#include "bitale/graph/op.hpp"
#include "graph/batch.hpp"
#include "ops/analysis/support_masks.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

class Alloc final : public Op, public MovesElements, public VectorizesAlong, public EmitsTensors {
 public:
  std::string_view name() const override { return "Alloc"; }
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
  Apply vectorize_along(const Batch& batch) const override;
  bool may_fold(const Apply& node) const override;
};

}  // namespace bitale
