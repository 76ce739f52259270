#include "ops/indexing/segment_sum.hpp"

#include <algorithm>
#include <cstring>

#include "bitale/ops/cumulative.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/gradient_control.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/segments.hpp"
#include "graph/dependencies.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/array_loops.hpp"
#include "ops/sample_values.hpp"

namespace bitale {

namespace {

std::string bounds_text(std::string_view who, std::string_view what) {
  return cat(who, ": expected bounds that don't decrease, from 0 on, up to the number of elements at most, got ", what);
}

}  // namespace

void check_segment_bounds(const Array& bounds, std::int64_t count, std::string_view who) {
  const Array known = bounds.astype(DType::Int64).contiguous();
  const std::int64_t* at = known.data_as<std::int64_t>();
  const std::int64_t size = known.size();
  if (size == 0) throw ValueError(cat(who, ": expected at least one bound, got none"));
  if (at[0] < 0) throw ValueError(bounds_text(who, cat(at[0], " first")));
  for (std::int64_t i = 1; i < size; ++i)
    if (at[i] < at[i - 1]) throw ValueError(bounds_text(who, cat(at[i], " at position ", i, " behind ", at[i - 1])));
  if (count != unknown_length && at[size - 1] > count)
    throw ValueError(bounds_text(who, cat(at[size - 1], " for ", count, " elements")));
}

namespace {

// The bounds, which a call checks unless they are constant (make_node then does). `is_complete`: they must begin at 0
// and end at `count`.
Variable checked_bounds(const Variable& bounds, const Variable& count, std::string_view who, bool is_complete) {
  if (bounds.dtype() == DType::Bool || !is_integer(bounds.dtype()) || bounds.ndim() != 1)
    throw TypeError(cat(who, ": expected bounds that are a vector of integers, got ", bounds.str(), " of type ",
                        bounds.type()->str()));
  const Variable first = subtensor(bounds, {IndexItem(0)}), last = subtensor(bounds, {IndexItem(-1)});
  if (const Array* known = bounds.constant()) {
    const auto length = known_integer(count);
    check_segment_bounds(*known, length.value_or(unknown_length), who);
    const Array ends = known->astype(DType::Int64).contiguous();
    const std::int64_t* at = ends.data_as<std::int64_t>();
    if (!is_complete || (at[0] == 0 && length == at[ends.size() - 1])) return bounds;
    if (at[0] != 0 || length)
      throw ValueError(cat(who, ": expected bounds from 0 to the number of elements", length ? cat(", ", *length) : "",
                           ", got bounds from ", at[0], " to ", at[ends.size() - 1]));
  }
  const Variable steps = subtensor(bounds, {IndexItem(Slice{1, {}, {}})}) - 0,
                 before = subtensor(bounds, {IndexItem(Slice{{}, -1, {}})});
  std::vector<Operand> conditions{all(ge(steps, before))};
  conditions.push_back(is_complete ? eq(first, 0) : ge(first, 0));
  conditions.push_back(is_complete ? eq(last, count) : le(last, count));
  return check_and_raise(bounds, conditions, "ValueError",
                         bounds_text(who, is_complete ? "others, or ones that leave elements out" : "others"));
}

}  // namespace

Apply SegmentSum::make_node(std::span<const Variable> inputs) const {
  require_inputs(*this, inputs, 2);
  const Variable &x = inputs[0], &bounds = inputs[1];
  if (x.ndim() == 0) throw TypeError(cat("segment_sum: expected elements along a dimension, got the scalar ", x.str()));
  if (!is_integer(bounds.dtype()) || bounds.dtype() == DType::Bool || bounds.ndim() != 1)
    throw TypeError(cat("segment_sum: expected bounds that are a vector of integers, got ", bounds.str(), " of type ",
                        bounds.type()->str()));
  Dims lengths = x.static_shape();
  if (const Array* known = bounds.constant()) check_segment_bounds(*known, lengths[0], "segment_sum");
  const std::int64_t count = bounds.static_shape()[0];
  lengths[0] = count == unknown_length ? unknown_length : count - 1;
  return Apply(OpRef(this), {x, bounds}, {tensor_type(x.dtype(), lengths)});
}

std::vector<Shape> SegmentSum::infer_shape(const Apply&, std::span<const Shape> inputs) const {
  Shape out = inputs[0];
  out[0] = lengths::sub(inputs[1][0], int64_constant(1));
  return {out};
}

void SegmentSum::perform(const Apply&, std::span<const Array> in, std::span<Array> out) const {
  check_segment_bounds(in[1], in[0].shape(0), "segment_sum");
  const Array x = in[0].contiguous(), bounds = in[1].astype(DType::Int64).contiguous();
  const std::int64_t* at = bounds.data_as<std::int64_t>();
  const std::int64_t parts = bounds.size() - 1;
  Dims lengths = x.shape();
  lengths[0] = parts;
  std::int64_t width = 1;
  for (std::size_t k = 1; k < lengths.size(); ++k) width *= lengths[k];
  out[0] = Array::zeros(x.dtype(), lengths);
  visit_dtype(x.dtype(), [&]<class T>() {
    const T* from = static_cast<const T*>(x.data());
    T* to = static_cast<T*>(out[0].mutable_data());
    if constexpr (is_half<T>) {
      for (std::int64_t part = 0; part < parts; ++part)
        for (std::int64_t k = 0; k < width; ++k) {
          float total = 0;  // sums of float16 are rounded once
          for (std::int64_t i = at[part]; i < at[part + 1]; ++i) total += float(from[i * width + k]);
          to[part * width + k] = T(total);
        }
    } else {
      for (std::int64_t part = 0; part < parts; ++part)
        for (std::int64_t i = at[part]; i < at[part + 1]; ++i)
          for (std::int64_t k = 0; k < width; ++k)
            to[part * width + k] = sum_of(to[part * width + k], from[i * width + k]);
    }
  });
}

std::optional<Array> SegmentSum::dependencies(const Apply&, int, InputDependencies& inputs) const {
  const std::optional<Array> given = inputs.value(1);
  if (!given) return std::nullopt;
  const Array x = *inputs.of(0), bounds = given->astype(DType::Int64).contiguous();
  check_segment_bounds(bounds, x.shape(0), "segment_sum");
  const Array out = Array::zeros(DType::Int64, inputs.lengths());
  const std::int64_t parts = out.shape(0), width = parts ? out.size() / parts : 0;
  for (std::int64_t part = 0; part < parts; ++part) {
    const std::int64_t begin = bounds.data_as<std::int64_t>()[part], end = bounds.data_as<std::int64_t>()[part + 1];
    std::vector<ElementSets::Set> terms(std::size_t(end - begin));
    for (std::int64_t k = 0; k < width; ++k) {
      for (std::int64_t i = begin; i < end; ++i)
        terms[std::size_t(i - begin)] = x.data_as<std::int64_t>()[i * width + k];
      out.mutable_data_as<std::int64_t>()[part * width + k] = inputs.sets().united(terms);
    }
  }
  return out;
}

bool SegmentSum::emit(Lowering& to, const Apply& node) const {
  const DType dtype = node.input(0).dtype();
  const Expr count = to.shape_in(0)[0], zero = to.pool().integer(0);
  const bool is_known = node.input(1).is_constant();
  // Bounds that are computed are clipped, so that no read is out of range even if their check is going to fail.
  const auto bound = [&to, count, zero, is_known](Expr i) {
    const Expr at[] = {i};
    const Expr position = program::cast(to.in(1, at), DType::Int64);
    return is_known ? position : max(zero, min(position, count));
  };
  if (is_known) {
    const std::int64_t parts = node.input(1).static_shape()[0] - 1;
    const std::int64_t position[] = {parts};
    const auto last = std::int64_t(node.input(1).constant()->astype(DType::Int64).at(position));
    to.require(count >= to.pool().integer(last), bounds_text("segment_sum", "larger ones"));
  }
  ElementScan scan;
  scan.combiner = dtype == DType::Bool ? program::Combiner::bit_or : program::Combiner::add;
  scan.dtype = computing_dtype(dtype);
  scan.domain = {to.shape_out(0)[0], zero};
  scan.along = {false, true};
  for (int k = 1; k < node.input(0).ndim(); ++k) {
    scan.domain.push_back(to.shape_in(0)[std::size_t(k)]);
    scan.along.push_back(false);
  }
  scan.computed_extent = {1,
                          [bound, zero](Index before) { return max(bound(before[0] + 1) - bound(before[0]), zero); }};
  scan.value = [&to, bound](Index at) {
    std::vector<Expr> index{bound(at[0]) + at[1]};
    index.insert(index.end(), at.begin() + 2, at.end());
    return to.in(0, index);
  };
  to.scan(0, std::move(scan));
  return true;
}

void SegmentSum::emit_tensors(TensorLowering& to, const Apply& node) const {
  const Variable& x = node.input(0);
  const Variable& bounds = node.input(1);
  const Variable count = length_of(x, 0);
  // Elements before the first and behind the last part belong to an additional part.
  Operands lengths({length_of(bounds, 0) + 1});
  for (int k = 1; k < x.ndim(); ++k) lengths.variables.push_back(length_of(x, k));
  const Variable starts = inc_subtensor(zeros({count + 1}, DType::Int64), {IndexItem(bounds)}, 1);
  const Variable part = subtensor(cumsum(starts), {IndexItem(Slice{{}, -1, {}})});
  const Variable sums = inc_subtensor(zeros(lengths, x.dtype()), {IndexItem(part)}, x);
  to.express({subtensor(sums, {IndexItem(Slice{1, -1, {}})})});
}

Variables SegmentSum::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  Variables out = no_gradients(node);
  const Variable& g = cotangents[0];
  if (g.is_disconnected()) return out;
  const Variable& bounds = node.input(1);
  const Variable count = length_of(node.input(0), 0), parts = length_of(g, 0);
  const Variable starts = inc_subtensor(zeros({count + 1}, DType::Int64), {IndexItem(bounds)}, 1);
  const Variable part = subtensor(cumsum(starts), {IndexItem(Slice{{}, -1, {}})});
  const auto is_complete = [&] {
    const Array* known = bounds.constant();
    const auto length = known_integer(count);
    if (!known || !length) return false;
    const Array ends = known->astype(DType::Int64).contiguous();
    return ends.data_as<std::int64_t>()[0] == 0 && ends.data_as<std::int64_t>()[ends.size() - 1] == *length;
  };
  if (is_complete()) {
    out[0] = with_static_shape_of(node.input(0), subtensor(g, {IndexItem(segment_ids(bounds, count))}));
    return out;
  }
  // Elements outside all parts, which come as part 0 or `parts + 1`, have gradient 0.
  Operands row({int64_constant(1)});
  for (int k = 1; k < g.ndim(); ++k) row.variables.push_back(length_of(g, k));
  const Variable zero = zeros(row, g.dtype());
  out[0] = with_static_shape_of(node.input(0),
                                subtensor(concatenate({zero, g, zero}, 0), {IndexItem(minimum(part, parts + 1))}));
  return out;
}

Variables SegmentSum::pushforward(const Apply& node, std::span<const Variable> tangents) const {
  if (tangents[0].is_disconnected()) return {disconnected()};
  return {(*this)({tangents[0], node.input(1)})};
}

// The batch dimensions come behind the first, along which the sums are; batched bounds would have parts of different
// lengths in each matrix of the batch, which the loop over one vector of bounds can't express.
Apply SegmentSum::vectorize(const Apply& node, std::span<const Variable> batched) const {
  if (Batch{node, batched}.ndim(1) != 0)
    throw NotImplementedError("SegmentSum: batches of bounds are not implemented; batches of elements are");
  const int gained = Batch{node, batched}.ndim(0);
  if (gained == 0) return make_node(batched);
  std::vector<int> order{gained}, back;
  for (int k = 0; k < gained; ++k) order.push_back(k);
  for (int k = gained + 1; k < batched[0].ndim(); ++k) order.push_back(k);
  for (int k = 1; k <= gained; ++k) back.push_back(k);
  back.push_back(0);
  for (int k = gained + 1; k < batched[0].ndim(); ++k) back.push_back(k);
  return dimshuffle((*this)({dimshuffle(batched[0], order), batched[1]}), back).owner();
}

Variable segment_sum(const Operand& x, const Operand& bounds) {
  const LocationScope here(x.where);
  if (x.ndim() == 0)
    throw TypeError(cat("segment_sum: expected elements along a dimension, got the scalar ", x.variable.str()));
  return (*make_ref<SegmentSum>())(
      {x.variable, checked_bounds(bounds.variable, length_of(x.variable, 0), "segment_sum", false)});
}

Variable segment_ids(const Operand& bounds, const Operand& count) {
  const LocationScope here(bounds.where);
  const Variable length = as_length(count.variable, "segment_ids: count");
  const Variable checked = checked_bounds(bounds.variable, length, "segment_ids", true);
  if (const Array* known = checked.constant(); known && known_integer(length)) {
    const Array ends = known->astype(DType::Int64).contiguous();
    const std::int64_t* at = ends.data_as<std::int64_t>();
    const std::int64_t parts = ends.size() - 1;
    Array ids = Array::empty(parts <= std::int64_t(INT32_MAX) ? DType::Int32 : DType::Int64, Dims{at[parts]});
    visit_dtype(ids.dtype(), [&]<class T>() {
      T* to = static_cast<T*>(ids.mutable_data());
      if constexpr (std::is_integral_v<T>)
        for (std::int64_t part = 0; part < parts; ++part) std::fill(to + at[part], to + at[part + 1], T(part));
    });
    return constant(ids);
  }
  const Variable inner = subtensor(checked, {IndexItem(Slice{1, -1, {}})});
  const Variable starts = inc_subtensor(zeros({length + 1}, DType::Int64), {IndexItem(inner)}, 1);
  return subtensor(cumsum(starts), {IndexItem(Slice{{}, -1, {}})});
}

// ---- samples --------------------------------------------------------------------------------------------------------

namespace {

std::vector<Sample> segment_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  auto add = [&](const Variable& x, const Array& value, const Array& bounds, bool is_known = false) {
    const Variable at = is_known ? constant(bounds) : sample_input(bounds.dtype(), {any}, "bounds");
    const Variable inputs[] = {x, at};
    std::vector<Array> values{value};
    if (!is_known) values.push_back(bounds);
    out.push_back({make_ref<SegmentSum>()->make_node(inputs), values});
  };
  const Array bounds{0, 2, 2, 5, 9}, some{1, 3, 4};
  for (DType dtype : {DType::Float64, DType::Float32, DType::Float16, DType::Int32, DType::Bool, DType::Complex128})
    add(sample_input(dtype, {any}), sample_values(dtype, {9}), bounds);
  add(sample_input(DType::Float64, {any, any}), sample_values(DType::Float64, {9, 3}), bounds);
  add(sample_input(DType::Float64, {any, 2, any}), sample_values(DType::Float64, {9, 2, 4}),
      bounds.astype(DType::Int32));
  add(sample_input(DType::Float64, {any}), sample_values(DType::Float64, {6}), some);
  add(sample_input(DType::Float64, {9}), sample_values(DType::Float64, {9}), Array{0});
  add(sample_input(DType::Float64, {any}), sample_values(DType::Float64, {0}), Array{0, 0, 0});
  return out;
}

BITALE_REGISTER_OP(SegmentSum, "Sums over consecutive parts of the first dimension, whose bounds are a vector.",
                   segment_samples);

}  // namespace

}  // namespace bitale
