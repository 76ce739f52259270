#include "ops/indexing/check_mask.hpp"

#include <numeric>

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/sample_values.hpp"
#include "ops/shapes/alloc.hpp"

namespace bitale {

namespace {

int count_of(const Apply& node) { return int(node.inputs().size() - 1) / 2; }

std::string mismatch(int axis) { return cat("boolean index did not match indexed array along dimension ", axis); }

void check(int axis, std::int64_t length, std::int64_t of_mask) {
  if (length != of_mask)
    throw IndexError(
        cat(mismatch(axis), "; dimension is ", length, " but corresponding boolean dimension is ", of_mask));
}

}  // namespace

Apply CheckMask::make_node(std::span<const Variable> inputs) const {
  if (inputs.size() % 2 == 0)
    throw TypeError(cat("CheckMask: expected a tensor and pairs of lengths, got ", inputs.size(), " inputs"));
  const TensorType& x = inputs[0].tensor();
  Variables own{inputs[0]};
  for (auto& length : inputs.subspan(1)) own.push_back(as_length(length, "CheckMask"));
  Apply node(OpRef(this), own, {tensor_type(x.dtype, x.shape)});
  const int count = count_of(node);
  for (int k = 0; k < count; ++k) {
    const auto of_mask = known_integer(node.input(1 + k)), length = known_integer(node.input(1 + count + k));
    if (of_mask && length) check(axis + k, *length, *of_mask);
  }
  return node;
}

std::vector<Shape> CheckMask::infer_shape(const Apply&, std::span<const Shape> inputs) const { return {inputs[0]}; }

void CheckMask::perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const {
  const int count = count_of(node);
  for (int k = 0; k < count; ++k)
    check(axis + k, in[std::size_t(1 + count + k)].int_item(), in[std::size_t(1 + k)].int_item());
  out[0] = in[0];
}

bool CheckMask::emit(Lowering& to, const Apply& node) const {
  const int count = count_of(node);
  for (int k = 0; k < count; ++k) to.require(equal(to.in(1 + k), to.in(1 + count + k)), mismatch(axis + k));
  std::vector<int> order(std::size_t(node.output().ndim()));
  std::iota(order.begin(), order.end(), 0);
  to.permute(0, 0, order);
  return true;
}

void CheckMask::emit_tensors(TensorLowering& to, const Apply& node) const {
  const int count = count_of(node);
  for (int k = 0; k < count; ++k)
    to.require(to.builder().map(DType::Bool, {to.in(1 + k), to.in(1 + count + k)},
                                [](std::span<const Expr> in) { return program::equal(in[0], in[1]); }),
               mismatch(axis + k));
  to.out(0, to.in(0));
}

Variable CheckMask::of(const Apply& node, const Variable& value) const {
  Variables inputs = node.inputs();
  inputs[0] = value;
  return (*this)(inputs);
}

// The gradient does not depend on the checked value, so it is checked itself.
Variables CheckMask::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  Variables out = no_gradients(node);
  if (!cotangents[0].is_disconnected()) out[0] = of(node, cotangents[0]);
  return out;
}

Variables CheckMask::pushforward(const Apply& node, std::span<const Variable> tangents) const {
  if (tangents[0].is_disconnected()) return {disconnected()};
  return {of(node, tangents[0])};
}

std::vector<std::vector<bool>> CheckMask::connection_pattern(const Apply& node) const { return connect_first(node, 1); }

Apply CheckMask::vectorize(const Apply& node, std::span<const Variable> batched) const {
  Variables inputs(batched.begin(), batched.end());
  for (int k = 1; k < int(batched.size()); ++k) {
    if (Batch{node, batched}.ndim(k) == 0) continue;
    // A batched length is accepted if it is an Alloc: then it is the same length for the whole batch.
    if (!dynamic_cast<const Alloc*>(batched[std::size_t(k)].owner_op()))
      throw NotImplementedError("CheckMask: vectorize over the lengths");
    inputs[std::size_t(k)] = batched[std::size_t(k)].owner().input(0);
  }
  return make_node(inputs);
}

std::vector<int> CheckMask::view_of(const Apply&, int) const { return {0}; }

Variable checked_mask(const Variable& value, const Variable& mask, const Variable& x, int axis) {
  Variables inputs{value}, lengths;
  bool agree = true;
  for (int k = 0; k < mask.ndim(); ++k) {
    inputs.push_back(length_of(mask, k));
    // A mask without elements selects nothing, along a dimension of any length.
    lengths.push_back(mask.static_shape()[std::size_t(k)] == 0 ? inputs.back() : length_of(x, axis + k));
    const auto of_mask = known_integer(inputs.back());
    agree &= of_mask && of_mask == known_integer(lengths.back());
  }
  if (agree) return value;
  inputs.insert(inputs.end(), lengths.begin(), lengths.end());
  return (*make_ref<CheckMask>(axis))(inputs);
}

namespace {

std::vector<Sample> check_mask_samples() {
  constexpr auto any = unknown_length;
  auto positions = sample_input(DType::Int64, {any}), n = sample_input(DType::Int64, {});
  auto x = sample_input(DType::Float64, {any, any}), mask = sample_input(DType::Bool, {any});
  return {{make_ref<CheckMask>(1)->make_node({{positions, n, int64_constant(3)}}),
           {sample_values(DType::Int64, {4}), Array(std::int64_t(3))}},
          {make_ref<CheckMask>(0)->make_node({{x, shape_i(mask, 0), shape_i(x, 0)}}),
           {sample_values(DType::Float64, {2, 3}), sample_values(DType::Bool, {2})}}};
}

BITALE_REGISTER_OP(CheckMask, "The input, when a mask is as long as what it masks; an IndexError when it is not.",
                   check_mask_samples);

}  // namespace

}  // namespace bitale
