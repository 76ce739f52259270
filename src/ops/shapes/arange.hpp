// ARange: the numbers start, start + step, ... that lie before stop. Inputs: three scalars.
#pragma once

#include "bitale/graph/op.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

class ARange final : public OpOf<ARange>, public EmitsTensors {
 public:
  explicit ARange(DType dtype) : dtype(dtype) {}

  DType dtype;
  static constexpr auto fields = attribute_list(attribute("dtype", &ARange::dtype));

  std::string_view name() const override { return "ARange"; }
  std::string label() const override { return "ARange{dtype='" + std::string(dtype_name(dtype)) + "'}"; }
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
  bool may_fold(const Apply& node) const override;
  Range range(const Apply& node, int output, InputRanges& inputs) const override;
};

}  // namespace bitale
