// RuntimeBroadcast: a tensor repeated along dimensions that have length 1 at run time, as NumPy does it for the arrays
// of an index and for the value of an indexed update. Everywhere else the static type determines what broadcasts.
#pragma once

#include "bitale/graph/op.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

// Inputs: a tensor, then the requested length for each entry of `axes`.
class RuntimeBroadcast final : public OpOf<RuntimeBroadcast>, public EmitsTensors {
 public:
  RuntimeBroadcast(std::vector<int> axes, bool of_index) : axes(std::move(axes)), of_index(of_index) {}

  std::vector<int> axes;  // repeated if their length is 1, ascending; their static lengths are unknown
  bool of_index;          // other lengths raise an IndexError, not a ShapeError
  static constexpr auto fields =
      attribute_list(attribute("axes", &RuntimeBroadcast::axes), attribute("of_index", &RuntimeBroadcast::of_index));

  std::string_view name() const override { return "RuntimeBroadcast"; }
  ComplexForm complex_form() const override { return ComplexForm::by_parts; }
  std::string pprint_text(std::span<const std::string> inputs) const override { return inputs[0]; }
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
  bool may_fold(const Apply&) const override { return false; }  // a call fails, not the compilation

 private:
  [[noreturn]] void fail(int axis, std::int64_t have, std::int64_t want) const;
};

// `value` broadcast to these lengths. Nothing is done for a dimension whose static length is known, or which provably
// has the requested length.
Variable broadcast_at_run_time(const Variable& value, const Shape& lengths, bool of_index);
// Broadcasts index tensors of one rank with each other as NumPy does, except those that count along the dimension of x
// that they index, 0, 1, ... up to its length: x[arange(x.shape[0]), y] is then one loop over the rows of x.
Variables broadcast_indices(const Variables& indices, const Variable& x, const std::vector<int>& axes);

}  // namespace bitale
