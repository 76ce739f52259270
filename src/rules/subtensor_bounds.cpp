#include "rules/subtensor_bounds.hpp"

#include <algorithm>
#include <limits>

#include "ops/analysis/lengths.hpp"
#include "ops/indexing/advanced_inc_subtensor.hpp"
#include "ops/indexing/advanced_index.hpp"
#include "ops/indexing/basic_index.hpp"
#include "ops/indexing/inc_subtensor.hpp"
#include "ops/indexing/slice_arithmetic.hpp"
#include "ops/indexing/subtensor.hpp"

namespace bitale::rewriting {

namespace {

bool same_number(const Variable& a, const Variable& b) {
  if (!a.defined() || !b.defined()) return !a.defined() && !b.defined();
  if (a.same_as(b)) return true;
  const auto known = known_integer(a);
  return known && known == known_integer(b);
}

}  // namespace

bool DimBounds::is_same(const DimBounds& other) const {
  return integer == other.integer && same_number(index, other.index) && same_number(start, other.start) &&
         same_number(stop, other.stop) && same_number(step, other.step);
}

Bounds bounds_of(const Apply& node) {
  const auto* read = dynamic_cast<const Subtensor*>(&node.op());
  const IndexPattern& pattern = read ? read->pattern : dynamic_cast<const IncSubtensor&>(node.op()).pattern;
  int next = read ? 1 : 2;
  auto take = [&](bool present) { return present ? node.input(next++) : Variable(); };
  Bounds out;
  for (auto& dim : pattern.dims()) {
    DimBounds bounds{.integer = dim.integer};
    if (dim.integer) {
      bounds.index = take(true);
    } else {
      bounds.start = take(dim.start);
      bounds.stop = take(dim.stop);
      bounds.step = take(dim.step);
    }
    out.push_back(bounds);
  }
  out.resize(std::size_t(node.input(0).ndim()));
  return out;
}

IndexPattern pattern_of(const Bounds& bounds) {
  std::vector<DimIndex> dims;
  for (auto& dim : bounds) dims.push_back({dim.integer, dim.start.defined(), dim.stop.defined(), dim.step.defined()});
  return IndexPattern(std::move(dims));
}

Variables numbers_of(const Bounds& bounds) {
  Variables out;
  for (auto& dim : bounds)
    for (auto& number : {dim.index, dim.start, dim.stop, dim.step})
      if (number.defined()) out.push_back(number);
  return out;
}

bool all_full(const Bounds& bounds) {
  return std::all_of(bounds.begin(), bounds.end(), [](auto& dim) { return dim.is_full(); });
}

bool is_same(const Bounds& a, const Bounds& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto& x, auto& y) { return x.is_same(y); });
}

Variable part_of(const Variable& x, const Bounds& bounds) {
  if (all_full(bounds)) return x;
  Variables inputs{x};
  for (auto& number : numbers_of(bounds)) inputs.push_back(number);
  return (*make_ref<Subtensor>(pattern_of(bounds)))(inputs);
}

Variable updated(const Variable& x, const Variable& y, const Bounds& bounds, bool set) {
  Variables inputs{x, y};
  for (auto& number : numbers_of(bounds)) inputs.push_back(number);
  return (*make_ref<IncSubtensor>(pattern_of(bounds), set))(inputs);
}

std::optional<KnownRange> known_range(const DimBounds& slice, std::int64_t length) {
  if (slice.integer || length == unknown_length) return std::nullopt;
  std::optional<std::int64_t> numbers[3];
  const Variable* given[] = {&slice.start, &slice.stop, &slice.step};
  for (int k = 0; k < 3; ++k) {
    if (!given[k]->defined()) continue;
    numbers[k] = known_integer(*given[k]);
    if (!numbers[k]) return std::nullopt;
  }
  if (numbers[2] == 0) return std::nullopt;
  const auto range = slice_range(IntArithmetic{}, numbers[0], numbers[1], numbers[2], length);
  return KnownRange{range.start, range.count, range.step};
}

DimBounds slice_of(const KnownRange& range) {
  if (range.count == 0) return rewriting::range({}, int64_constant(0));
  const std::int64_t last = range.start + (range.count - 1) * range.step;
  const std::int64_t stop = range.step > 0 ? last + 1 : last - 1;
  DimBounds out;
  out.start = int64_constant(range.start);
  if (stop >= 0) out.stop = int64_constant(stop);
  // One element needs no step, so that a backward slice becomes a forward one.
  if (range.count == 1) return rewriting::range(out.start, int64_constant(range.start + 1));
  if (range.step != 1) out.step = int64_constant(range.step);
  return out;
}

std::optional<std::int64_t> known_position(const Variable& index, std::int64_t length) {
  std::optional<std::int64_t> at = known_integer(index);
  if (!at || length == unknown_length) return std::nullopt;
  if (*at < 0) *at += length;
  if (*at < 0 || *at >= length) return std::nullopt;
  return at;
}

bool never_fails(const Bounds& bounds, const Dims& lengths) {
  for (std::size_t axis = 0; axis < bounds.size(); ++axis) {
    const DimBounds& dim = bounds[axis];
    if (dim.integer ? !known_position(dim.index, lengths[axis])
                    : dim.step.defined() && known_integer(dim.step).value_or(0) == 0)
      return false;
  }
  return true;
}

bool are_positions(const Variable& index, std::int64_t length) {
  const Array* known = index.constant();
  if (!known || length == unknown_length) return false;
  const Array values = known->astype(DType::Int64).contiguous();
  const std::int64_t* v = values.data_as<std::int64_t>();
  return std::all_of(v, v + values.size(), [&](std::int64_t at) { return at >= -length && at < length; });
}

bool fits(const Variable& y, const Shape& part) {
  if (y.ndim() > int(part.size())) return false;
  const std::size_t offset = part.size() - std::size_t(y.ndim());
  for (int axis = 0; axis < y.ndim(); ++axis)
    if (y.static_shape()[std::size_t(axis)] != 1 &&
        !is_same_length(length_of(y, axis), part[std::size_t(axis) + offset]))
      return false;
  return true;
}

Shape lengths_of_part(const Variable& x, const Bounds& bounds) {
  const Variables numbers = numbers_of(bounds);
  return indexed_lengths(pattern_of(bounds), lengths_of(x), numbers);
}

Shape lengths_of_gathered(const Variable& x, const std::vector<int>& axes, std::span<const Variable> indices) {
  std::vector<Shape> lengths;
  for (auto& index : indices) lengths.push_back(lengths_of(index));
  return AdvancedIndex(axes, x.ndim(), indices[0].ndim())
      .region(lengths_of(x), broadcast_index_lengths(indices, lengths));
}

Shape lengths_of_updated(const Apply& update) {
  if (dynamic_cast<const IncSubtensor*>(&update.op())) return lengths_of_part(update.input(0), bounds_of(update));
  const auto& op = dynamic_cast<const AdvancedIncSubtensor&>(update.op());
  return lengths_of_gathered(update.input(0), op.axes, std::span(update.inputs()).subspan(2));
}

namespace {

// An interval [begin, end) that contains all positions taken from a dimension.
struct Reach {
  std::int64_t begin = 0, end = std::numeric_limits<std::int64_t>::max();
};

Reach reach_of(const DimBounds& dim, std::int64_t length) {
  // A negative number counts from an end that may be unknown.
  const auto from_start = [](const Variable& number) -> std::optional<std::int64_t> {
    const auto known = number.defined() ? known_integer(number) : std::nullopt;
    return known && *known >= 0 ? known : std::nullopt;
  };
  if (dim.integer) {
    auto position = known_position(dim.index, length);
    if (!position) position = from_start(dim.index);
    return position ? Reach{*position, *position + 1} : Reach{};
  }
  if (const auto known = known_range(dim, length)) {
    if (known->count == 0) return {0, 0};
    const std::int64_t last = known->start + (known->count - 1) * known->step;
    return {std::min(known->start, last), std::max(known->start, last) + 1};
  }
  if (dim.step.defined() && known_integer(dim.step).value_or(-1) < 0) return {};
  Reach reach;
  reach.begin = from_start(dim.start).value_or(0);
  reach.end = from_start(dim.stop).value_or(reach.end);
  return reach;
}

}  // namespace

bool are_disjoint(const Bounds& a, const Bounds& b, const Dims& lengths) {
  for (std::size_t axis = 0; axis < std::min(a.size(), b.size()); ++axis) {
    const Reach one = reach_of(a[axis], lengths[axis]), other = reach_of(b[axis], lengths[axis]);
    if (one.end <= other.begin || other.end <= one.begin) return true;
  }
  return false;
}

}  // namespace bitale::rewriting
