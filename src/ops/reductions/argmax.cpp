// Argmax and argmin: the position of an extreme element. As in NumPy, it is the first of equal ones, and a nan takes
// precedence over all numbers.
#include <algorithm>
#include <cmath>

#include "bitale/core/error.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/indexing/regions.hpp"
#include "ops/reductions/reduce.hpp"
#include "ops/sample_values.hpp"

namespace bitale {

namespace {

template <class T>
std::int64_t extreme_position(const char* at, std::int64_t count, std::int64_t stride, bool smallest) {
  using Compared = std::conditional_t<is_half<T>, float, T>;
  std::int64_t best = 0;
  Compared value = *reinterpret_cast<const T*>(at);
  for (std::int64_t i = 1; i < count && value == value; ++i) {  // the first nan wins
    const Compared other = *reinterpret_cast<const T*>(at + i * stride);
    if (other != other || (smallest ? other < value : other > value)) {
      best = i;
      value = other;
    }
  }
  return best;
}

}  // namespace

Attributes Argmax::attributes() const {
  Attributes out{{"smallest", smallest}};
  if (axis) out.push_back({"axis", to_attribute(*axis)});
  return out;
}

std::string Argmax::label() const {
  return axes_label(smallest ? "Argmin" : "Argmax", axis ? std::optional(std::vector<int>{*axis}) : std::nullopt);
}

Apply Argmax::make_node(std::span<const Variable> inputs) const {
  const Variable& x = single_input(smallest ? "argmin" : "argmax", inputs);
  Dims shape;
  if (axis) {
    normalized_axes(smallest ? "argmin" : "argmax", {&*axis, 1}, x.ndim());
    shape = x.static_shape();
    shape.erase(std::size_t(*axis));
  }
  const bool is_empty = axis ? x.static_shape()[std::size_t(*axis)] == 0 : std::ranges::count(x.static_shape(), 0) > 0;
  if (is_empty && std::ranges::all_of(shape, [](auto length) { return length > 0; }))
    throw ValueError(empty_message(smallest ? "argmin" : "argmax"));
  return Apply(OpRef(this), {x}, {tensor_type(DType::Int64, shape)});
}

std::vector<Shape> Argmax::infer_shape(const Apply&, std::span<const Shape> inputs) const {
  if (!axis) return {Shape{}};
  Shape out = inputs[0];
  out.erase(out.begin() + *axis);
  return {out};
}

void Argmax::perform(const Apply&, std::span<const Array> in, std::span<Array> out) const {
  const Array x = axis ? in[0] : in[0].reshape({in[0].size()});
  const int along = axis.value_or(0);
  Dims shape = x.shape();
  shape.erase(std::size_t(along));
  const Array result = Array::empty(DType::Int64, shape);
  out[0] = result;
  const std::int64_t count = x.shape(along), stride = x.strides()[std::size_t(along)];
  if (result.size() == 0) return;
  if (count == 0) throw ValueError(empty_message(smallest ? "argmin" : "argmax"));
  Region kept;
  for (int other = 0; other < x.ndim(); ++other)
    if (other != along) kept.add_axis(x.shape(other), x.strides()[std::size_t(other)]);
  std::int64_t* to = result.mutable_data_as<std::int64_t>();
  const char* const data = static_cast<const char*>(x.data());
  visit_dtype(x.dtype(), [&]<class T>() {
    for_each_position(
        kept, [&](std::int64_t offset) { *to++ = extreme_position<T>(data + offset, count, stride, smallest); });
  });
}

bool Argmax::emit(Lowering& to, const Apply& node) const {
  const std::span<const Expr> lengths = to.shape_in(0);
  std::vector<bool> reduced(lengths.size(), !axis);
  if (axis) reduced[std::size_t(*axis)] = true;
  Expr something = to.pool().boolean(true), no_output = to.pool().boolean(false);
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    if (reduced[k])
      something = something & (lengths[k] > 0);
    else
      no_output = no_output | program::equal(lengths[k], 0);
  }
  to.require(something | no_output, empty_message(smallest ? "argmin" : "argmax"));
  const DType in = node.input(0).dtype(), dtype = in == DType::Bool ? DType::UInt8 : computing_dtype(in);
  to.scan(0, {program::CarryKind::arg_reduce,
              smallest ? program::Combiner::min : program::Combiner::max,
              {lengths.begin(), lengths.end()},
              std::move(reduced),
              dtype,
              [&to](Index at) { return to.in(0, at); }});
  return true;
}

// Reduces pairs of a value and its position; among equal values, or two nans, the first one is kept.
void Argmax::emit_tensors(TensorLowering& to, const Apply& node) const {
  TensorBuilder& builder = to.builder();
  const DType in = node.input(0).dtype(), dtype = in == DType::Bool ? DType::UInt8 : computing_dtype(in);
  const program::Combiner combiner = smallest ? program::Combiner::min : program::Combiner::max;
  TensorValue x = builder.convert(to.in(0), dtype);
  if (!axis) x = builder.reshape(x, {product(x.lengths)});
  const int along = axis.value_or(0);
  Dims kept = x.lengths;
  kept.erase(std::size_t(along));
  if (x.lengths[std::size_t(along)] == 0 && product(kept) != 0)
    throw ValueError(empty_message(smallest ? "argmin" : "argmax"));
  const TensorValue number = builder.iota(DType::Int64, x.lengths, along);
  const TensorValue worst = builder.map(dtype, {builder.number(0, dtype)}, [&](std::span<const Expr> zero) {
    return program::identity(combiner, zero[0].pool(), dtype);
  });
  const std::int64_t behind = std::numeric_limits<std::int64_t>::max();
  const TensorValues found = builder.reduce_pair(
      x, number, worst, builder.constant(Array(behind)), along, [combiner](std::span<const Expr> at) {
        const Expr better = more_extreme(combiner, at[0], at[2]), worse = more_extreme(combiner, at[2], at[0]);
        return better | (~worse & (at[1] < at[3]));
      });
  to.out(0, found[1]);
}

Variables Argmax::pullback(const Apply&, std::span<const Variable>) const { return {disconnected()}; }
Variables Argmax::pushforward(const Apply&, std::span<const Variable>) const { return {disconnected()}; }

Apply Argmax::vectorize(const Apply& node, std::span<const Variable> batched) const {
  const int core = node.input(0).ndim(), batch = batched[0].ndim() - core;
  if (batch == 0) return make_node(batched);
  if (axis) return OpRef(new Argmax(*axis + batch, smallest))->make_node(batched);
  // The core dimensions are flattened into one.
  Variables lengths;
  Variable core_size = constant(Array(std::int64_t(1)));
  for (int i = 0; i < batch; ++i) lengths.push_back(shape_i(batched[0], i));
  for (int i = batch; i < batch + core; ++i) core_size = mul(core_size, shape_i(batched[0], i));
  lengths.push_back(core_size);
  const Variable flat[] = {reshape(batched[0], lengths)};
  return OpRef(new Argmax(batch, smallest))->make_node(flat);
}

namespace {

// Over one axis, or all.
Variable along_one(const Variable& x, std::optional<int> axis, bool smallest) {
  return OpRef(new Argmax(axis, smallest))->operator()({x});
}

Variable arg_extreme(const Operand& x, const Axes& axes, KeepDims keepdims, bool smallest) {
  const LocationScope here(x.where);
  const char* const who = smallest ? "argmin" : "argmax";
  if (axes && axes->empty())
    throw ValueError(cat(who, ": expected at least one axis; without axes, it is of all elements"));
  const std::vector<int> over = axes_or_all(who, axes, x.ndim());
  const auto kept = [&](const Variable& y) {
    return keepdims == KeepDims::Yes ? keep_dimensions(y, over, x.ndim()) : y;
  };
  if (axes && over.size() == 1) return kept(along_one(x.variable, over[0], smallest));
  if (int(over.size()) == x.ndim()) return kept(along_one(x.variable, std::nullopt, smallest));
  // Several axes are moved to the end and flattened into one.
  std::vector<int> order;
  Variables lengths;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    if (std::find(over.begin(), over.end(), axis) != over.end()) continue;
    order.push_back(axis);
    lengths.push_back(shape_i(x, axis));
  }
  Variable size = constant(Array(std::int64_t(1)));
  for (int axis : over) size = mul(size, shape_i(x, axis));
  lengths.push_back(size);
  order.insert(order.end(), over.begin(), over.end());
  const Variable flat = reshape(dimshuffle(x, order), lengths);
  return kept(along_one(flat, flat.ndim() - 1, smallest));
}

}  // namespace

Variable argmax(const Operand& x, const Axes& axis, KeepDims keepdims) { return arg_extreme(x, axis, keepdims, false); }
Variable argmin(const Operand& x, const Axes& axis, KeepDims keepdims) { return arg_extreme(x, axis, keepdims, true); }

namespace {

std::vector<Sample> argmax_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  auto add = [&](DType dtype, const Dims& type, const Array& value, std::optional<int> axis) {
    const Variable x[] = {sample_input(dtype, type, "x")};
    for (bool smallest : {false, true})
      out.push_back({OpRef(new Argmax(axis, smallest))->make_node(x), {value}, 1e-6, false});
  };
  for (DType dtype : real_dtypes()) add(dtype, {any, 4}, sample_values(dtype, {3, 4}), 1);
  add(DType::Float64, {any, any}, sample_values(DType::Float64, {3, 4}), std::nullopt);
  add(DType::Float64, {any, any}, sample_values(DType::Float64, {3, 4}), 0);
  add(DType::Float64, {any, any}, sample_values(DType::Float64, {3, 0}), 0);
  add(DType::Float64, {}, Array(2.0), std::nullopt);
  add(DType::Float64, {any, any, any}, sample_values(DType::Float64, {3, 4, 2}), 1);
  add(DType::Float64, {any, any, any}, sample_values(DType::Float64, {3, 4, 21}), std::nullopt);
  add(DType::Float64, {3, 1, 2}, sample_values(DType::Float64, {3, 1, 2}), 1);
  add(DType::Float64, {1, 1}, sample_values(DType::Float64, {1, 1}), std::nullopt);
  add(DType::Float32, {any, any}, sample_values(DType::Float32, {5, 203}), 1);  // values repeat
  add(DType::Float64, {any}, Array{1.0, std::nan(""), 7.0, std::nan("")}, 0);
  add(DType::Float64, {any, 1}, Array{{-HUGE_VAL}, {-HUGE_VAL}, {HUGE_VAL}, {HUGE_VAL}}, 0);
  add(DType::Float64, {any}, Array{-HUGE_VAL, -HUGE_VAL}, 0);
  add(DType::Int64, {any}, Array{3, 7, 7, 3}.astype(DType::Int64), 0);
  return out;
}

OpRef make_argmax(const Attributes& attributes) {
  return make_ref<Argmax>(optional_attribute<int>(attributes, "axis"),
                          required_attribute<bool>(attributes, "smallest"));
}

BITALE_REGISTER_OP_MADE_BY(Argmax, make_argmax, "Position of the largest or smallest element, along an axis or of all.",
                           argmax_samples);

}  // namespace

}  // namespace bitale
