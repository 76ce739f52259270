// CheckAndRaise returns x and raises a user-defined error when a condition does not hold. Assert is a CheckAndRaise
// with AssertionError.
#pragma once

#include "bitale/graph/op.hpp"
#include "graph/batch.hpp"
#include "graph/dependencies.hpp"
#include "ops/own_error.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

// Inputs: x, then conditions, which are 0-d bools.
class CheckAndRaise final : public OpOf<CheckAndRaise>,
                            public OwnError,
                            public StatesDependencies,
                            public VectorizesAlong,
                            public EmitsTensors {
 public:
  CheckAndRaise(std::string exc_type, std::string msg) : exc_type(std::move(exc_type)), msg(std::move(msg)) {}

  std::string exc_type;  // by name
  std::string msg;
  static constexpr auto fields =
      attribute_list(attribute("exc_type", &CheckAndRaise::exc_type), attribute("msg", &CheckAndRaise::msg));

  std::string_view name() const override { return "CheckAndRaise"; }
  ComplexForm complex_form() const override { return ComplexForm::by_parts; }
  std::string label() const override;
  std::string check_text() const;  // what is wrong where a condition does not hold
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
  Apply vectorize_along(const Batch& batch) const override;
  std::optional<Array> dependencies(const Apply& node, int output, InputDependencies& inputs) const override;
  std::vector<int> view_of(const Apply& node, int output) const override;
  bool may_fold(const Apply&) const override { return false; }  // the call must fail, not its compilation
};

// Converts an integer scalar to a length, for functions that create something of that length. Throws a ValueError for a
// negative one: while the graph is built if the value is known, otherwise in the call. Lengths of tensors need no
// check.
Variable checked_length(const Variable& scalar, std::string_view who);

}  // namespace bitale
