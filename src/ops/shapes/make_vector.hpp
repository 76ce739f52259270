// MakeVector: a vector from scalars of one dtype.
#pragma once

#include "bitale/graph/op.hpp"
#include "graph/batch.hpp"
#include "graph/dependencies.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

class MakeVector final : public OpOf<MakeVector>,
                         public StatesDependencies,
                         public VectorizesAlong,
                         public EmitsTensors {
 public:
  explicit MakeVector(DType dtype) : dtype(dtype) {}

  DType dtype;
  static constexpr auto fields = attribute_list(attribute("dtype", &MakeVector::dtype));

  std::string_view name() const override { return "MakeVector"; }
  ComplexForm complex_form() const override { return ComplexForm::by_parts; }
  OpRef component_op() const override { return make_ref<MakeVector>(component_dtype(dtype)); }
  std::string label() const override { return "MakeVector{dtype='" + std::string(dtype_name(dtype)) + "'}"; }
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
  std::optional<Array> dependencies(const Apply& node, int output, InputDependencies& inputs) const override;
};

}  // namespace bitale
