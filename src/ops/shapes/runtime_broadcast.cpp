#include "ops/shapes/runtime_broadcast.hpp"

#include <numeric>

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/sample_values.hpp"
#include "ops/shapes/arange.hpp"
#include "ops/shapes/dimshuffle.hpp"

namespace bitale {

void RuntimeBroadcast::fail(int axis, std::int64_t have, std::int64_t want) const {
  if (of_index)
    throw IndexError(cat("shape mismatch: index tensors of lengths ", want, " and ", have,
                         " can't be broadcast together in dimension ", axis));
  throw ShapeError(cat("the selected part has length ", want, " in dimension ", axis, ", the value has ", have,
                       "; only a length of 1 is repeated"));
}

Apply RuntimeBroadcast::make_node(std::span<const Variable> inputs) const {
  require_inputs(*this, inputs, 1 + axes.size());
  const TensorType& x = inputs[0].tensor();
  Variables own{inputs[0]};
  Dims shape = x.shape;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (axes[k] < 0 || axes[k] >= x.ndim() || (k > 0 && axes[k] <= axes[k - 1]))
      throw ValueError(cat(label(), ": expected ascending axes of ", inputs[0].str()));
    own.push_back(as_length(inputs[1 + k], name()));
    std::int64_t& length = shape[std::size_t(axes[k])];
    if (length == unknown_length || length == 1) length = static_length(own.back());
  }
  return Apply(OpRef(this), own, {tensor_type(x.dtype, shape)});
}

std::vector<Shape> RuntimeBroadcast::infer_shape(const Apply& node, std::span<const Shape> inputs) const {
  Shape out = inputs[0];
  for (std::size_t k = 0; k < axes.size(); ++k) out[std::size_t(axes[k])] = node.input(int(1 + k));
  return {out};
}

void RuntimeBroadcast::perform(const Apply&, std::span<const Array> in, std::span<Array> out) const {
  Dims shape = in[0].shape();
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const std::int64_t want = in[1 + k].int_item();
    std::int64_t& have = shape[std::size_t(axes[k])];
    if (have != want && (have != 1 || want < 0)) fail(axes[k], have, want);
    have = want;
  }
  out[0] = shape == in[0].shape() ? in[0] : in[0].broadcast_to(shape).copy();
}

bool RuntimeBroadcast::emit(Lowering& to, const Apply& node) const {
  const int ndim = node.output().ndim();
  std::vector<Expr> repeats(std::size_t(ndim), to.pool().boolean(false));
  for (int axis : axes) {
    const Expr have = to.shape_in(0)[std::size_t(axis)], want = to.shape_out(0)[std::size_t(axis)];
    if (to.same_length(have, want)) continue;
    repeats[std::size_t(axis)] = equal(have, 1);
    to.require(equal(have, want) | (equal(have, 1) & (want >= 0)),
               cat(label(), ": the length in dimension ", axis, " does not fit"));
  }
  to.element(
      0,
      [&to, repeats](Index at) {
        std::vector<Expr> source;
        for (std::size_t k = 0; k < at.size(); ++k)
          source.push_back(repeats[k].is_constant(0) ? at[k] : select(repeats[k], to.pool().integer(0), at[k]));
        return to.in(0, source);
      },
      0);
  return true;
}

void RuntimeBroadcast::emit_tensors(TensorLowering& to, const Apply&) const {
  Dims lengths = to.lengths_in(0);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const std::int64_t want = to.need_integer(int(1 + k), "the length to broadcast to");
    std::int64_t& have = lengths[std::size_t(axes[k])];
    if (have != want && (have != 1 || want < 0)) fail(axes[k], have, want);
    have = want;
  }
  to.out(0, to.builder().repeat(to.in(0), lengths));
}

// Along an axis that was repeated the gradient is summed; otherwise it is passed on. It is the concatenation of both
// forms, one of which has no elements.
Variables RuntimeBroadcast::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  Variables out = no_gradients(node);
  Variable g = cotangents[0];
  if (g.is_disconnected()) return out;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const int axis = axes[k];
    const Variable one = int64_constant(1), wanted = node.input(int(1 + k));
    const Variable repeated = cast(eq(length_of(node.input(0), axis), one), DType::Int64);
    auto first = [&](const Variable& v, const Variable& count) {
      std::vector<IndexItem> items(std::size_t(axis), IndexItem(Slice{}));
      items.push_back(Slice{{}, count, {}});
      return subtensor(v, items);
    };
    const Variable total = sum(first(g, mul(wanted, repeated)), std::vector<int>{axis}, KeepDims::Yes);
    g = join(axis, {first(total, repeated), first(g, mul(wanted, sub(one, repeated)))});
  }
  out[0] = with_static_shape_of(node.input(0), cast(g, node.input(0).dtype()));
  return out;
}

Variables RuntimeBroadcast::pushforward(const Apply& node, std::span<const Variable> tangents) const {
  if (tangents[0].is_disconnected()) return {disconnected()};
  Variables inputs = node.inputs();
  inputs[0] = tangents[0];
  return {(*this)(inputs)};
}

std::vector<std::vector<bool>> RuntimeBroadcast::connection_pattern(const Apply& node) const {
  return connect_first(node, 1);
}

Apply RuntimeBroadcast::vectorize(const Apply& node, std::span<const Variable> batched) const {
  for (int i = 1; i < int(batched.size()); ++i)
    if (Batch{node, batched}.ndim(i) != 0) throw NotImplementedError("RuntimeBroadcast: vectorize over the lengths");
  std::vector<int> behind = axes;
  for (int& axis : behind) axis += Batch{node, batched}.ndim(0);
  return make_ref<RuntimeBroadcast>(std::move(behind), of_index)->make_node(batched);
}

std::vector<int> RuntimeBroadcast::view_of(const Apply&, int) const { return {0}; }

// ---- where it is needed ---------------------------------------------------------------------------------------------

Variable broadcast_at_run_time(const Variable& value, const Shape& lengths, bool of_index) {
  std::vector<int> axes;
  Variables inputs{value};
  for (int axis = 0; axis < value.ndim(); ++axis) {
    const Variable& wanted = lengths[std::size_t(axis)];
    if (value.static_shape()[std::size_t(axis)] != unknown_length || known_integer(wanted) == 1) continue;
    if (is_same_length(length_of(value, axis), wanted)) continue;
    axes.push_back(axis);
    inputs.push_back(wanted);
  }
  return axes.empty() ? value : (*make_ref<RuntimeBroadcast>(axes, of_index))(inputs);
}

namespace {

bool counts_along(Variable index, const Variable& length) {
  while (dynamic_cast<const DimShuffle*>(index.owner_op())) index = index.owner().input(0);
  if (!dynamic_cast<const ARange*>(index.owner_op())) return false;
  const Apply made = index.owner();
  return known_integer(made.input(0)) == 0 && known_integer(made.input(2)) == 1 &&
         is_same_length(length_of(index, 0), length);
}

}  // namespace

Variables broadcast_indices(const Variables& indices, const Variable& x, const std::vector<int>& axes) {
  if (indices.size() < 2) return indices;
  std::vector<bool> counts;
  for (std::size_t k = 0; k < indices.size(); ++k) counts.push_back(counts_along(indices[k], length_of(x, axes[k])));
  Shape lengths;
  for (int axis = 0; axis < indices[0].ndim(); ++axis) {
    Variable common;
    bool counted = false;
    for (std::size_t k = 0; k < indices.size(); ++k) {
      const Variable own = length_of(indices[k], axis);
      if (known_integer(own) == 1 || counted) continue;
      counted = counts[k];
      if (counted) {
        common = own;
        continue;
      }
      if (!common.defined() || (known_integer(own) && !known_integer(common)))
        common = own;
      else if (!known_integer(common) && !is_same_length(common, own))
        common = lengths::choose(eq(common, int64_constant(1)), own, common);
    }
    lengths.push_back(common.defined() ? common : int64_constant(1));
  }
  Variables out;
  for (auto& index : indices) out.push_back(broadcast_at_run_time(index, lengths, true));
  return out;
}

namespace {

std::vector<Sample> runtime_broadcast_samples() {
  constexpr auto any = unknown_length;
  auto v = sample_input(DType::Float64, {any}), m = sample_input(DType::Float64, {any, any});
  auto n = sample_input(DType::Int64, {}), k = sample_input(DType::Int64, {});
  auto op = [](std::vector<int> axes) { return make_ref<RuntimeBroadcast>(std::move(axes), false); };
  const Array two(std::int64_t(2)), three(std::int64_t(3));
  return {{op({0})->make_node({{v, n}}), {sample_values(DType::Float64, {1}), three}},
          {op({0})->make_node({{v, n}}), {sample_values(DType::Float64, {3}), three}},
          {op({0, 1})->make_node({{m, n, k}}), {sample_values(DType::Float64, {2, 1}), two, three}},
          {op({1})->make_node({{m, int64_constant(3)}}), {sample_values(DType::Float64, {2, 1})}}};
}

BITALE_REGISTER_OP(RuntimeBroadcast, "The input, repeated along dimensions that turn out to have length 1.",
                   runtime_broadcast_samples);

}  // namespace
}  // namespace bitale
