#include "ops/basic_index.hpp"

namespace bitale {
namespace {

constexpr std::string_view zero_slice_step = "slice step cannot be zero";

[[noreturn]] void out_of_bounds(std::string_view who, std::int64_t index, int axis, std::int64_t length) {
  throw IndexError(cat(who, ": index ", index, " is out of bounds for axis ", axis, " with size ", length));
}

// Calls visit(axis, input) for every input of the given role.
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

std::vector<IndexItem> batched_items(const IndexPattern& pattern, const Apply& node, std::span<const Variable> batched,
                                     int first, const Variable& x) {
  const int gained = common_batch_ndim(node, batched);
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
      if (batch_ndim(node, batched, next) != 0)
        throw NotImplementedError(cat(node.op().label(), ": vectorize over the bounds of a slice"));
      return Operand(batched[std::size_t(next++)]);
    };
    if (dim.integer) {
      items.push_back(batched[std::size_t(next++)]);
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

}  // namespace bitale
