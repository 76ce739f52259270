// AdvancedIncSubtensor copies x and adds y to the elements that integer tensors select (an element selected twice gets
// both terms), or replaces them by y (`set`: the last value is kept). Inputs: x, y, then one index tensor per entry of
// `axes`.
#pragma once

#include "bitale/graph/op.hpp"
#include "bitale/graph/structure.hpp"
#include "bitale/ops/lowering.hpp"
#include "graph/batch.hpp"
#include "graph/dependencies.hpp"
#include "graph/support.hpp"
#include "ops/inplace.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

class AdvancedIncSubtensor final : public OpOf<AdvancedIncSubtensor>,
                                   public InplaceForms,
                                   public StatesStructure,
                                   public StatesSupport,
                                   public StatesDependencies,
                                   public VectorizesAlong,
                                   public EmitsTensors {
 public:
  AdvancedIncSubtensor(std::vector<int> axes, bool set, bool inplace = false)
      : axes(std::move(axes)), set(set), inplace(inplace) {}

  std::vector<int> axes;  // the indexed dimensions, ascending
  bool set;
  bool inplace;  // x is updated in place
  static constexpr auto fields = attribute_list(attribute("axes", &AdvancedIncSubtensor::axes),
                                                attribute("set_instead_of_inc", &AdvancedIncSubtensor::set),
                                                attribute("inplace", &AdvancedIncSubtensor::inplace));

  std::string_view name() const override { return "AdvancedIncSubtensor"; }
  ComplexForm complex_form() const override { return ComplexForm::by_parts; }
  std::string label() const override {
    return std::string(set ? "AdvancedSetSubtensor" : "AdvancedIncSubtensor") + (inplace ? "{inplace}" : "");
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
  Structure structure(const Apply& node, int output, InputStructures& inputs) const override;
  std::vector<int> destroys(const Apply& node, int output) const override;
  OpRef inplace_on_inputs(const Apply& node, std::span<const int> allowed) const override;

 private:
  OpRef pure() const;
  void emit_picked(Lowering& to, const Apply& node, std::size_t counting, ElementRule value) const;
};

}  // namespace bitale
