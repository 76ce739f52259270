// CheckAndRaise: x, and an error of the user's when a condition does not hold. Assert is one with AssertionError.
#pragma once

#include "bitale/graph/op.hpp"
#include "ops/own_error.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

// Inputs: x, then conditions, which are 0-d booleans.
class CheckAndRaise final : public OpOf<CheckAndRaise>, public OwnError, public EmitsTensors {
 public:
  CheckAndRaise(std::string exc_type, std::string msg) : exc_type(std::move(exc_type)), msg(std::move(msg)) {}

  std::string exc_type;  // by name
  std::string msg;
  static constexpr auto fields =
      attribute_list(attribute("exc_type", &CheckAndRaise::exc_type), attribute("msg", &CheckAndRaise::msg));

  std::string_view name() const override { return "CheckAndRaise"; }
  ComplexForm complex_form() const override { return ComplexForm::by_parts; }
  std::string label() const override;
  bool is_assert() const { return exc_type == "AssertionError"; }
  [[noreturn]] void raise() const override;

  Apply make_node(std::span<const Variable> inputs) const override;
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override;
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override;
  bool emit(Lowering& to, const Apply& node) const override;
  void emit_tensors(TensorLowering& to, const Apply& node) const override;
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override;
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override;
  bool has_pushforward() const override { return true; }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override;
  Apply vectorize(const Apply& node, std::span<const Variable> batched) const override;
  std::vector<int> view_of(const Apply& node, int output) const override;
  bool may_fold(const Apply&) const override { return false; }  // a call fails, not its compilation
};

// An integer scalar as a length that a function makes something of: ValueError for a negative one, when the graph is
// built where it is known, else in the call. Lengths of tensors are not asked.
Variable checked_length(const Variable& scalar, std::string_view who);

}  // namespace bitale
