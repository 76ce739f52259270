// Reshape: the same elements in row-major order under other lengths. Inputs: x and an integer vector of lengths, one of
// which may be -1 and then follows from the others. A view when x is contiguous.
#pragma once

#include "bitale/graph/op.hpp"
#include "graph/batch.hpp"
#include "ops/analysis/support_masks.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

class Reshape final : public OpOf<Reshape>, public MovesElements, public VectorizesAlong, public EmitsTensors {
 public:
  explicit Reshape(int ndim) : ndim(ndim) {}

  int ndim;
  static constexpr auto fields = attribute_list(attribute("ndim", &Reshape::ndim));

  std::string_view name() const override { return "Reshape"; }
  ComplexForm complex_form() const override { return ComplexForm::by_parts; }
  std::string label() const override { return "Reshape{" + std::to_string(ndim) + "}"; }
  Apply make_node(std::span<const Variable> inputs) const override;
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override;
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override;
  bool emit(Lowering& to, const Apply& node) const override;
  void emit_tensors(TensorLowering& to, const Apply& node) const override;
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override;
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override;
  bool has_pushforward() const override { return true; }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override;
  Apply vectorize_along(const Batch& batch) const override;
  std::vector<int> view_of(const Apply& node, int output) const override;
};

// The elements of `shape`, a vector of known length, with -1 replaced by a quotient of the lengths `from` of one
// element of a batch: in a batch of none it could not be determined otherwise.
Variables lengths_without_batch(const Variable& shape, std::span<const Variable> from);

}  // namespace bitale
