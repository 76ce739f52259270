// Join concatenates tensors of equal rank and dtype along one axis.
#pragma once

#include "bitale/graph/op.hpp"
#include "graph/batch.hpp"
#include "graph/dependencies.hpp"
#include "graph/support.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

class Join final : public OpOf<Join>,
                   public StatesSupport,
                   public StatesDependencies,
                   public VectorizesAlong,
                   public EmitsTensors {
 public:
  explicit Join(int axis) : axis(axis) {}

  int axis;  // non-negative
  static constexpr auto fields = attribute_list(attribute("axis", &Join::axis));

  std::string_view name() const override { return "Join"; }
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
  std::vector<int> support_carriers(const Apply& node, int output) const override;
  Support support(const Apply& node, int output, std::span<const Support> inputs) const override;
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override;
  Apply vectorize_along(const Batch& batch) const override;
  std::optional<Array> dependencies(const Apply& node, int output, InputDependencies& inputs) const override;
};

}  // namespace bitale
