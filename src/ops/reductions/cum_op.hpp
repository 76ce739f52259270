// CumOp computes for each element the sum or product of all elements up to and including it along an axis.
#pragma once

#include "bitale/graph/op.hpp"
#include "bitale/program/expr.hpp"
#include "graph/batch.hpp"
#include "graph/dependencies.hpp"
#include "graph/support.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

class CumOp final : public OpOf<CumOp>,
                    public StatesSupport,
                    public StatesDependencies,
                    public VectorizesAlong,
                    public EmitsTensors {
 public:
  CumOp(int axis, std::string mode) : axis(axis), mode(std::move(mode)) {}

  int axis;          // not negative
  std::string mode;  // "add" or "mul"
  static constexpr auto fields = attribute_list(attribute("axis", &CumOp::axis), attribute("mode", &CumOp::mode));

  program::Combiner combiner() const { return mode == "add" ? program::Combiner::add : program::Combiner::mul; }

  std::string_view name() const override { return "CumOp"; }
  ComplexForm complex_form() const override { return mode == "add" ? ComplexForm::by_parts : ComplexForm::own; }
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
  std::optional<Array> dependencies(const Apply& node, int output, InputDependencies& inputs) const override;
  std::vector<int> support_carriers(const Apply&, int) const override;
  Support support(const Apply& node, int output, std::span<const Support> inputs) const override;
};

// For each element, the product along `axis` of all elements before it, or after it; 1 where there are none.
Variable product_before(const Variable& x, int axis);
Variable product_behind(const Variable& x, int axis);

}  // namespace bitale
