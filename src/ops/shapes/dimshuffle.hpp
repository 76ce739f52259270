// DimShuffle: permutes dimensions, inserts new ones of length 1, drops some of length 1. The result is a view.
#pragma once

#include "bitale/graph/op.hpp"
#include "bitale/graph/structure.hpp"
#include "graph/batch.hpp"
#include "ops/analysis/support_masks.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

class DimShuffle final : public OpOf<DimShuffle>,
                         public StatesStructure,
                         public MovesElements,
                         public VectorizesAlong,
                         public EmitsTensors {
 public:
  // Entries of new_order are input dimensions, or -1 for a new one. Throws a ValueError if they do not fit.
  DimShuffle(int input_ndim, std::vector<int> new_order);

  int input_ndim;
  std::vector<int> new_order;
  static constexpr auto fields =
      attribute_list(attribute("input_ndim", &DimShuffle::input_ndim), attribute("new_order", &DimShuffle::new_order));

  std::vector<int> dropped() const;   // input dimensions left out
  std::vector<int> inserted() const;  // output dimensions that are new
  bool keeps_order() const;           // the kept dimensions are in their original order
  bool is_identity() const { return keeps_order() && inserted().empty() && dropped().empty(); }

  std::string_view name() const override { return "DimShuffle"; }
  ComplexForm complex_form() const override { return ComplexForm::by_parts; }
  std::string label() const override;
  std::string pprint_text(std::span<const std::string> inputs) const override;
  Apply make_node(std::span<const Variable> inputs) const override;
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override;
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override;
  bool emit(Lowering& to, const Apply& node) const override;
  void emit_tensors(TensorLowering& to, const Apply& node) const override;
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override;
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override;
  bool has_pushforward() const override { return true; }
  Apply vectorize_along(const Batch& batch) const override;
  Structure structure(const Apply& node, int output, InputStructures& inputs) const override;
  std::vector<int> view_of(const Apply& node, int output) const override;
};

}  // namespace bitale
