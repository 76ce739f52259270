// Nonzero: where a boolean tensor is true, as row-major numbers of its elements.
#pragma once

#include <optional>

#include "bitale/graph/op.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

class Nonzero final : public Op, public EmitsTensors {
 public:
  std::string_view name() const override { return "Nonzero"; }
  Apply make_node(std::span<const Variable> inputs) const override;
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override;
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override;
  bool emit(Lowering& to, const Apply& node) const override;
  void emit_tensors(TensorLowering& to, const Apply&) const override {
    to.refuse(
        "only values tell how many elements are true; where there is a bound, nonzero, compress and unique of "
        "bitale.jax "
        "pad to it");
  }
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override;
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override;
  bool has_pushforward() const override { return true; }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override { return {{false}}; }
};

// The row-major numbers of the elements that are not 0; a constant if x is one.
Variable positions_of_nonzero(const Variable& x);
// The Nonzero node that provides the positions of an index, seen through dimshuffles and mask checks; null for any
// other index.
Apply nonzero_behind(const Variable& index);

}  // namespace bitale
