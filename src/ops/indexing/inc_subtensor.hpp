// IncSubtensor copies x and adds y to the part that a basic index selects, or replaces that part by y (`set`). Inputs:
// x, y, then the index scalars. y is converted to x's dtype and repeated where its length is statically 1.
#pragma once

#include "bitale/graph/op.hpp"
#include "graph/batch.hpp"
#include "graph/dependencies.hpp"
#include "graph/support.hpp"
#include "ops/indexing/index_pattern.hpp"
#include "ops/inplace.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

class IncSubtensor final : public OpOf<IncSubtensor>,
                           public InplaceForms,
                           public StatesSupport,
                           public StatesDependencies,
                           public VectorizesAlong,
                           public EmitsTensors {
 public:
  IncSubtensor(IndexPattern pattern, bool set, bool inplace = false)
      : pattern(std::move(pattern)), set(set), inplace(inplace) {}

  IndexPattern pattern;
  bool set;
  bool inplace;  // x is updated in place
  static constexpr auto fields =
      attribute_list(attribute("idx_list", &IncSubtensor::pattern), attribute("set_instead_of_inc", &IncSubtensor::set),
                     attribute("inplace", &IncSubtensor::inplace));

  std::string_view name() const override { return "IncSubtensor"; }
  ComplexForm complex_form() const override { return ComplexForm::by_parts; }
  std::string label() const override {
    return (set ? "SetSubtensor{" : "IncSubtensor{") + (pattern.dims().empty() ? ":" : pattern.text()) +
           (inplace ? ", inplace}" : "}");
  }
  std::string pprint_text(std::span<const std::string> inputs) const override;
  Apply make_node(std::span<const Variable> inputs) const override;
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
  std::vector<int> destroys(const Apply& node, int output) const override;
  OpRef inplace_on_inputs(const Apply& node, std::span<const int> allowed) const override;

 private:
  OpRef pure() const;
};

}  // namespace bitale
