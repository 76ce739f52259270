#include "ops/indexing/basic_index.hpp"

#include <algorithm>

namespace bitale {
namespace {

constexpr std::string_view zero_slice_step = "slice step cannot be zero";

[[noreturn]] void out_of_bounds(std::string_view who, std::int64_t index, int axis, std::int64_t length) {
  throw IndexError(cat(who, ": index ", index, " is out of bounds for axis ", axis, " with size ", length));
}

// Calls visit(axis, input) for each integer of the index, or visit(input) for each step.
template <class Visit>
void for_each_integer(const IndexPattern& pattern, Visit visit) {
  std::size_t next = 0;
  for (std::size_t axis = 0; axis < pattern.dims().size(); ++axis) {
    const DimIndex& dim = pattern.dims()[axis];
    if (dim.integer) visit(axis, next);
    next += std::size_t(dim.input_count());
  }
}

template <class Visit>
void for_each_step(const IndexPattern& pattern, Visit visit) {
  std::size_t next = 0;
  for (auto& dim : pattern.dims()) {
    next += std::size_t(dim.input_count());
    if (dim.step) visit(next - 1);
  }
}

}  // namespace

Variables checked_index_inputs(const IndexPattern& pattern, const Variable& x, std::span<const Variable> inputs,
                               std::string_view who) {
  if (int(pattern.dims().size()) > x.ndim())
    throw IndexError(cat("too many indices for tensor: ", x.str(), " is ", x.ndim(), "-dimensional, but ",
                         pattern.dims().size(), " were indexed"));
  if (int(inputs.size()) != pattern.input_count())
    throw TypeError(cat(who, ": expected ", pattern.input_count(), " index inputs, got ", inputs.size()));
  Variables out;
  for (auto& input : inputs) out.push_back(as_length(input, who));
  for_each_step(pattern, [&](std::size_t k) {
    if (known_integer(out[k]) == 0) throw ValueError(std::string(zero_slice_step));
  });
  return out;
}

void check_known_integers(const IndexPattern& pattern, const Variable& x, std::span<const Variable> indices,
                          std::string_view who) {
  for_each_integer(pattern, [&](std::size_t axis, std::size_t k) {
    auto index = known_integer(indices[k]);
    const std::int64_t length = x.static_shape()[axis];
    if (index && length != unknown_length && (*index < -length || *index >= length))
      out_of_bounds(who, *index, int(axis), length);
  });
}

Dims indexed_static_shape(const IndexPattern& pattern, const Dims& shape, std::span<const Variable> indices) {
  Dims out;
  std::size_t next = 0;
  const IntArithmetic ints;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const DimIndex dim = axis < pattern.dims().size() ? pattern.dims()[axis] : DimIndex{};
    bool known = shape[axis] != unknown_length;
    auto take = [&](bool present) -> std::optional<std::int64_t> {
      if (!present) return {};
      auto value = known_integer(indices[next++]);
      known &= value.has_value();
      return value;
    };
    if (dim.integer) {
      ++next;
      continue;
    }
    auto start = take(dim.start), stop = take(dim.stop), step = take(dim.step);
    out.push_back(known ? slice_range(ints, start, stop, step, shape[axis]).count : unknown_length);
  }
  return out;
}

Shape indexed_lengths(const IndexPattern& pattern, const Shape& shape, std::span<const Variable> indices) {
  Shape out;
  for (auto& range : index_ranges(LengthArithmetic{}, pattern, indices, std::span<const Variable>(shape)))
    if (!range.dropped) out.push_back(range.count);
  return out;
}

Array indexed_view(const IndexPattern& pattern, const Array& x, std::span<const Array> indices, std::string_view who) {
  std::vector<std::int64_t> values;
  for (auto& index : indices) values.push_back(index.int_item());
  for_each_step(pattern, [&](std::size_t k) {
    if (values[k] == 0) throw ValueError(std::string(zero_slice_step));
  });
  for_each_integer(pattern, [&](std::size_t axis, std::size_t k) {
    const std::int64_t length = x.shape(int(axis));
    if (values[k] < -length || values[k] >= length) out_of_bounds(who, values[k], int(axis), length);
  });
  const auto ranges = index_ranges(IntArithmetic{}, pattern, std::span<const std::int64_t>(values),
                                   std::span<const std::int64_t>(x.shape().data(), x.shape().size()));
  Array out = x;
  int axis = 0;
  for (auto& range : ranges) {
    if (range.dropped) {
      out = out.take_index(axis, range.start);
      continue;
    }
    if (!range.full) out = out.slice(axis, range.count ? range.start : 0, range.count, range.step);
    ++axis;
  }
  return out;
}

std::vector<IndexItem> batched_items(const IndexPattern& pattern, const Batch& batch, int first, const Variable& x) {
  const int gained = batch.ndim();
  std::vector<IndexItem> items;
  for (int axis = 0; axis < gained; ++axis) {
    std::vector<int> order(std::size_t(gained), new_axis);
    order[std::size_t(axis)] = 0;
    items.push_back(dimshuffle(arange(length_of(x, axis)), order));
  }
  int next = first;
  for (auto& dim : pattern.dims()) {
    auto take = [&](bool present) -> std::optional<Operand> {
      if (!present) return {};
      if (batch.ndim(next) != 0)
        throw NotImplementedError(cat(batch.node.op().label(), ": vectorize over the bounds of a slice"));
      return Operand(batch.inputs[std::size_t(next++)]);
    };
    if (dim.integer) {
      items.push_back(batch.inputs[std::size_t(next++)]);
    } else {
      auto start = take(dim.start), stop = take(dim.stop), step = take(dim.step);
      items.push_back(Slice{start, stop, step});
    }
  }
  return items;
}

BasicSelection::BasicSelection(Lowering& to, const IndexPattern& pattern, int first, std::string_view who) {
  std::vector<Expr> values;
  for (int k = 0; k < pattern.input_count(); ++k) values.push_back(cast(to.in(first + k), DType::Int64));
  const auto lengths = to.shape_in(0);
  for_each_step(pattern, [&](std::size_t k) {
    if (!values[k].is_constant()) to.require(not_equal(values[k], 0), std::string(zero_slice_step));
  });
  for_each_integer(pattern, [&](std::size_t axis, std::size_t k) {
    to.require((values[k] >= -lengths[axis]) & (values[k] < lengths[axis]),
               cat(who, ": index out of bounds for axis ", axis));
  });
  ranges_ = index_ranges(ExprArithmetic{to.pool()}, pattern, std::span<const Expr>(values), lengths);
}

std::vector<Expr> BasicSelection::domain() const {
  std::vector<Expr> out;
  for (auto& range : ranges_)
    if (!range.dropped) out.push_back(range.count);
  return out;
}

std::vector<Expr> BasicSelection::source(Index at) const {
  std::vector<Expr> out;
  std::size_t next = 0;
  for (auto& range : ranges_) {
    if (range.dropped)
      out.push_back(range.start);
    else if (range.full)
      out.push_back(at[next++]);
    else
      out.push_back(range.start + at[next++] * range.step);
  }
  return out;
}

// ---- selections of whole tensors ------------------------------------------------------------------------------------

TensorSelection::TensorSelection(TensorLowering& to, const IndexPattern& pattern, int first, std::string_view who)
    : part_(to.lengths_in(0)) {
  const Dims lengths = part_;
  int next = first;
  const auto bound = [&](bool present) -> std::optional<std::int64_t> {
    if (!present) return {};
    return to.need_integer(next++, "a bound of a slice");
  };
  for (std::size_t axis = 0; axis < lengths.size(); ++axis) {
    const DimIndex dim = axis < pattern.dims().size() ? pattern.dims()[axis] : DimIndex{};
    const std::int64_t length = lengths[axis];
    positions_.emplace_back();
    if (!dim.integer) {
      const auto start = bound(dim.start), stop = bound(dim.stop), step = bound(dim.step);
      if (step == 0) throw ValueError(std::string(zero_slice_step));
      ranges_.push_back(slice_range(IntArithmetic(), start, stop, step, length));
      continue;
    }
    const int input = next++;
    if (const Array* known = to.known(input)) {
      const std::int64_t index = known->int_item();
      if (index < -length || index >= length) out_of_bounds(who, index, int(axis), length);
      ranges_.push_back({index < 0 ? index + length : index, 1, 1, true});
      continue;
    }
    positions_.back() = to.positions(input, int(axis), length, who);
    ranges_.push_back({0, 1, 1, true});
    part_[axis] = 1;
  }
}

Dims TensorSelection::whole_lengths() const {
  Dims out;
  for (auto& range : ranges_) out.push_back(range.count);
  return out;
}
Dims TensorSelection::lengths() const {
  Dims out;
  for (auto& range : ranges_)
    if (!range.dropped) out.push_back(range.count);
  return out;
}
bool TensorSelection::is_dynamic() const {
  return std::any_of(positions_.begin(), positions_.end(), [](auto& position) { return position.has_value(); });
}
std::vector<TensorValue> TensorSelection::starts(TensorBuilder& builder) const {
  std::vector<TensorValue> out;
  for (auto& position : positions_) out.push_back(position ? *position : builder.number(0, DType::Int64));
  return out;
}

TensorValue TensorSelection::of(TensorBuilder& builder, const TensorValue& x) const {
  return taken(builder, is_dynamic() ? builder.part(x, starts(builder), part_) : x);
}

// A negative step is a positive step whose result is reversed.
TensorValue TensorSelection::taken(TensorBuilder& builder, const TensorValue& x) const {
  Dims start, stop, step;
  std::vector<int> reversed;
  for (std::size_t axis = 0; axis < ranges_.size(); ++axis) {
    const auto& range = ranges_[axis];
    const bool backwards = range.step < 0 && range.count > 0;
    const std::int64_t last = range.start + (range.count - 1) * range.step;
    if (backwards) reversed.push_back(int(axis));
    start.push_back(range.count == 0 ? 0 : backwards ? last : range.start);
    stop.push_back(range.count == 0 ? 0 : (backwards ? range.start : last) + 1);
    step.push_back(range.count < 2 ? 1 : backwards ? -range.step : range.step);
  }
  return builder.reshape(builder.reverse(builder.slice(x, start, stop, step), reversed), lengths());
}

TensorValue TensorSelection::updated(TensorBuilder& builder, const TensorValue& x, const TensorValue& y,
                                     bool set) const {
  if (!is_dynamic()) return put(builder, x, y, set);
  const auto at = starts(builder);
  return builder.with_part(x, put(builder, builder.part(x, at, part_), y, set), at);
}

TensorValue TensorSelection::put(TensorBuilder& builder, const TensorValue& x, const TensorValue& y, bool set) const {
  if (product(y.lengths) == 0) return x;
  const auto together = [&](const TensorValue& a, const TensorValue& b) {
    return set ? b : builder.map(x.dtype, {a, b}, [](std::span<const Expr> in) {
      return in[0].dtype() == DType::Bool ? in[0] | in[1] : in[0] + in[1];
    });
  };
  bool is_block = true;
  Dims low, high, between;
  std::vector<int> reversed;
  for (std::size_t axis = 0; axis < ranges_.size(); ++axis) {
    const auto& range = ranges_[axis];
    const std::int64_t last = range.start + (range.count - 1) * range.step;
    if (range.count > 1) is_block &= range.step == 1;
    if (range.step < 0) reversed.push_back(int(axis));
    low.push_back(std::min(range.start, last));
    high.push_back(x.lengths[axis] - std::max(range.start, last) - 1);
    between.push_back(range.count < 2 ? 0 : std::abs(range.step) - 1);
  }
  const TensorValue whole = builder.reshape(y, whole_lengths());
  if (is_block) {
    if (whole.lengths == x.lengths) return together(x, whole);
    std::vector<TensorValue> start;
    for (auto at : low) start.push_back(builder.constant(Array(at)));
    return builder.with_part(x, builder.reshape(together(taken(builder, x), y), whole.lengths), start);
  }
  const auto spread = [&](const TensorValue& part, const TensorValue& fill) {
    return builder.pad(part, fill, low, high, between);
  };
  const TensorValue selected = spread(builder.full(1, DType::Bool, whole.lengths), builder.number(0, DType::Bool));
  const TensorValue value = spread(builder.reverse(whole, reversed), builder.number(0, x.dtype));
  return builder.map(x.dtype, {selected, together(x, value), x},
                     [](std::span<const Expr> in) { return select(in[0], in[1], in[2]); });
}

}  // namespace bitale
