// AdvancedSubtensor gathers elements or rows of x by integer tensors: x[i], x[rows, cols], x[:, i]. Inputs: x, then one
// index tensor per entry of `axes`. See advanced_index.hpp for the order of the result's dimensions.
#pragma once

#include "bitale/graph/op.hpp"
#include "graph/batch.hpp"
#include "ops/analysis/support_masks.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

class AdvancedSubtensor final : public OpOf<AdvancedSubtensor>,
                                public MovesElements,
                                public VectorizesAlong,
                                public EmitsTensors {
 public:
  explicit AdvancedSubtensor(std::vector<int> axes) : axes(std::move(axes)) {}

  std::vector<int> axes;  // the indexed dimensions, ascending
  static constexpr auto fields = attribute_list(attribute("axes", &AdvancedSubtensor::axes));

  std::string_view name() const override { return "AdvancedSubtensor"; }
  ComplexForm complex_form() const override { return ComplexForm::by_parts; }
  std::string label() const override;
  std::string pprint_text(std::span<const std::string> inputs) const override;
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
};

}  // namespace bitale
