// SegmentScatter: adds the elements of consecutive parts of a vector, each at a column of the row of its part. Each
// part has memory of its own, so that parts can be added on several threads, and a part of a vector that is larger than
// the caches stays in them.
#pragma once

#include "bitale/graph/op.hpp"
#include "bitale/ops/from_attributes.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

// Inputs: the elements, float32 or float64; the bounds of the parts, as for SegmentSum; the column of each element.
// out[part, column] is the sum of the elements of the part at this column. ValueError for bounds, IndexError for
// columns that are out of range.
class SegmentScatter final : public OpOf<SegmentScatter>, public EmitsTensors {
 public:
  explicit SegmentScatter(std::int64_t width) : width(width) {}

  std::int64_t width;  // the number of columns
  static constexpr auto fields = attribute_list(attribute("width", &SegmentScatter::width));

  std::string_view name() const override { return "SegmentScatter"; }
  Apply make_node(std::span<const Variable> inputs) const override;
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override;
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override;
  bool emit(Lowering& to, const Apply& node) const override;
  void emit_tensors(TensorLowering& to, const Apply& node) const override;
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override;
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override;
  bool has_pushforward() const override { return true; }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override { return {{true}, {false}, {false}}; }
  Apply vectorize(const Apply& node, std::span<const Variable> batched) const override;
};

}  // namespace bitale
