// IfElse returns one of two lists of tensors, chosen by a scalar. Unlike switch, which chooses element by element, it
// needs only the list that it returns.
#pragma once

#include "bitale/graph/op.hpp"
#include "graph/lazy.hpp"
#include "graph/support.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

// Inputs: the condition, then n_outs tensors, then as many others of the same dtypes and ranks.
class IfElse final : public OpOf<IfElse>, public LazyInputs, public StatesSupport, public EmitsTensors {
 public:
  explicit IfElse(std::int64_t n_outs) : n_outs(n_outs) {}

  std::int64_t n_outs;
  static constexpr auto fields = attribute_list(attribute("n_outs", &IfElse::n_outs));

  std::string_view name() const override { return "IfElse"; }
  ComplexForm complex_form() const override { return ComplexForm::own; }
  PartsOfOutputs complex_parts(const Apply& node, std::span<const ComplexParts> inputs) const override;
  std::string label() const override { return "IfElse"; }
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
  Apply vectorize(const Apply& node, std::span<const Variable> batched) const override;
  std::vector<int> view_of(const Apply& node, int output) const override;

  std::vector<std::vector<int>> alternatives(const Apply& node) const override;
  std::size_t chosen(const Apply& node, std::span<const Array> in) const override;
  std::optional<int> condition() const override { return 0; }

  int then_input(int output) const { return 1 + output; }
  int else_input(int output) const { return 1 + int(n_outs) + output; }
};

}  // namespace bitale
