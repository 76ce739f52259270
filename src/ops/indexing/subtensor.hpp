// Subtensor: basic indexing, x[i, start:stop:step, ...], with Python's rules. The pattern defines which dimensions an
// integer or a slice indexes; the numbers are inputs: x, then integer scalars in the order written. The result is a
// view.
#pragma once

#include "bitale/graph/op.hpp"
#include "graph/batch.hpp"
#include "ops/analysis/support_masks.hpp"
#include "ops/indexing/index_pattern.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

class Subtensor final : public OpOf<Subtensor>, public MovesElements, public VectorizesAlong, public EmitsTensors {
 public:
  explicit Subtensor(IndexPattern pattern) : pattern(std::move(pattern)) {}

  IndexPattern pattern;
  static constexpr auto fields = attribute_list(attribute("idx_list", &Subtensor::pattern));

  std::string_view name() const override { return "Subtensor"; }
  ComplexForm complex_form() const override { return ComplexForm::by_parts; }
  std::string label() const override { return "Subtensor{" + (pattern.dims().empty() ? ":" : pattern.text()) + "}"; }
  std::string pprint_text(std::span<const std::string> inputs) const override;
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

}  // namespace bitale
