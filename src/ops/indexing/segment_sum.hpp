// SegmentSum: sums over consecutive parts of the first dimension, whose bounds are a vector. Its loop over a part is as
// long as the bounds say at the index of the loop around it, so that the elements summed are read as they are computed.
#pragma once

#include "bitale/graph/op.hpp"
#include "graph/dependencies.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

// `bounds` as those of `count` elements (unknown_length: of any number). ValueError if they are not bounds.
void check_segment_bounds(const Array& bounds, std::int64_t count, std::string_view who);

class SegmentSum final : public Op, public StatesDependencies, public EmitsTensors {
 public:
  std::string_view name() const override { return "SegmentSum"; }
  ComplexForm complex_form() const override { return ComplexForm::by_parts; }
  Apply make_node(std::span<const Variable> inputs) const override;
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override;
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override;
  bool emit(Lowering& to, const Apply& node) const override;
  void emit_tensors(TensorLowering& to, const Apply& node) const override;
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override;
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override;
  bool has_pushforward() const override { return true; }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override { return {{true}, {false}}; }
  Apply vectorize(const Apply& node, std::span<const Variable> batched) const override;
  std::optional<Array> dependencies(const Apply& node, int output, InputDependencies& inputs) const override;
};

}  // namespace bitale
