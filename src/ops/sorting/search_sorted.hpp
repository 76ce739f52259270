// SearchSorted: how many elements of an increasing vector come before each element of a tensor of any shape.
#pragma once

#include "bitale/graph/op.hpp"
#include "bitale/ops/from_attributes.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

class SearchSorted final : public OpOf<SearchSorted>, public EmitsTensors {
 public:
  explicit SearchSorted(std::string side) : side(std::move(side)) {}

  std::string side;  // "left": elements before it; "right": elements not after it
  static constexpr auto fields = attribute_list(attribute("side", &SearchSorted::side));

  std::string_view name() const override { return "SearchSorted"; }
  Apply make_node(std::span<const Variable> inputs) const override;
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override;
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override;
  bool emit(Lowering& to, const Apply& node) const override;
  void emit_tensors(TensorLowering& to, const Apply& node) const override;
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override;
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override;
  bool has_pushforward() const override { return true; }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override { return {{false}, {false}}; }
  Apply vectorize(const Apply& node, std::span<const Variable> batched) const override;
};

}  // namespace bitale
