// Python's slice rules, written once for three kinds of numbers: int64 (static shapes and perform), graph expressions
// (infer_shape) and Program expressions (native code). An Arithmetic defines how its numbers are computed and which of
// them are known when the rule is applied; known values are folded.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "bitale/program/expr.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/indexing/index_pattern.hpp"

namespace bitale {

struct IntArithmetic {
  using Number = std::int64_t;
  Number number(std::int64_t value) const { return value; }
  std::optional<std::int64_t> known(Number a) const { return a; }
  Number add(Number a, Number b) const { return a + b; }
  Number sub(Number a, Number b) const { return a - b; }
  Number div(Number a, Number b) const { return a / b; }  // for a >= 0 and b > 0
  Number min(Number a, Number b) const { return std::min(a, b); }
  Number max(Number a, Number b) const { return std::max(a, b); }
  bool negative(Number a) const { return a < 0; }
  Number choose(bool condition, Number a, Number b) const { return condition ? a : b; }
};

struct LengthArithmetic {
  using Number = Variable;
  Number number(std::int64_t value) const { return int64_constant(value); }
  std::optional<std::int64_t> known(const Number& a) const { return known_integer(a); }
  Number add(const Number& a, const Number& b) const { return lengths::add(a, b); }
  Number sub(const Number& a, const Number& b) const { return lengths::sub(a, b); }
  Number div(const Number& a, const Number& b) const { return lengths::floor_div(a, b); }
  Number min(const Number& a, const Number& b) const { return lengths::min(a, b); }
  Number max(const Number& a, const Number& b) const { return lengths::max(a, b); }
  Variable negative(const Number& a) const { return lengths::is_negative(a); }
  Number choose(const Variable& condition, const Number& a, const Number& b) const {
    return lengths::choose(condition, a, b);
  }
};

struct ExprArithmetic {
  using Number = program::Expr;
  program::ExprPool& pool;
  Number number(std::int64_t value) const { return pool.integer(value); }
  std::optional<std::int64_t> known(Number a) const {
    if (!a.is_constant()) return {};
    return a.payload();
  }
  Number add(Number a, Number b) const { return a + b; }
  Number sub(Number a, Number b) const { return a - b; }
  Number div(Number a, Number b) const { return a / b; }
  Number min(Number a, Number b) const { return program::min(a, b); }
  Number max(Number a, Number b) const { return program::max(a, b); }
  program::Expr negative(Number a) const { return a < 0; }
  Number choose(program::Expr condition, Number a, Number b) const { return select(condition, a, b); }
};

// Elements start, start + step, ... of one dimension, `count` of them. An integer index drops its dimension.
template <class Number>
struct DimRange {
  Number start, count, step;
  bool dropped = false, full = false;
};

namespace detail {

// A slice bound as a position: counted from the end if negative, and clamped to [low, high].
template <class A, class N = typename A::Number>
N slice_bound(const A& a, const N& bound, const N& length, const N& low, const N& high) {
  auto known = a.known(bound);
  if (known && *known < 0) return a.max(a.add(bound, length), low);
  if (known) return a.min(bound, high);
  const N wrapped = a.choose(a.negative(bound), a.add(bound, length), bound);
  return a.min(a.max(wrapped, low), high);
}

template <class A, class N = typename A::Number>
DimRange<N> slice_range_of_sign(const A& a, const std::optional<N>& start, const std::optional<N>& stop, const N& step,
                                const N& length, bool backwards) {
  const N low = backwards ? a.number(-1) : a.number(0);
  const N high = backwards ? a.sub(length, a.number(1)) : length;
  const N first = start ? slice_bound(a, *start, length, low, high) : backwards ? high : low;
  const N last = stop ? slice_bound(a, *stop, length, low, high) : backwards ? low : high;
  N distance = backwards ? a.sub(first, last) : a.sub(last, first);
  // If one bound is at its end of the range, the other can't be beyond it.
  if (start && stop) distance = a.max(distance, a.number(0));
  auto known_step = a.known(step);
  if (known_step == 1 || known_step == -1) return {first, distance, step};
  // ceil(distance / |step|), without overflow for any step.
  const N size =
      backwards ? a.sub(a.number(0), a.max(step, a.number(-std::numeric_limits<std::int64_t>::max()))) : step;
  const N one = a.number(1);
  const N count = a.choose(a.negative(a.sub(distance, one)), a.number(0),
                           a.add(a.div(a.max(a.sub(distance, one), a.number(0)), size), one));
  return {first, count, step};
}

}  // namespace detail

// The elements that start:stop:step selects in a dimension of this length. step is not 0.
template <class A, class N = typename A::Number>
DimRange<N> slice_range(const A& a, const std::optional<N>& start, const std::optional<N>& stop,
                        const std::optional<N>& step, const N& length) {
  const N one = a.number(1);
  const N by = step ? *step : one;
  if (!start && !stop && a.known(by) == 1) return {a.number(0), length, one, false, true};
  if (auto known = a.known(by)) return detail::slice_range_of_sign(a, start, stop, by, length, *known < 0);
  // The side that is not taken also gets a divisor of the right sign.
  const auto backwards = a.negative(by);
  const auto up = detail::slice_range_of_sign(a, start, stop, a.max(by, one), length, false);
  const auto down = detail::slice_range_of_sign(a, start, stop, a.min(by, a.number(-1)), length, true);
  return {a.choose(backwards, down.start, up.start), a.choose(backwards, down.count, up.count), by};
}

// The elements that a basic index selects in each dimension. `values` are the pattern's inputs.
template <class A, class N = typename A::Number>
std::vector<DimRange<N>> index_ranges(const A& a, const IndexPattern& pattern, std::span<const N> values,
                                      std::span<const N> lengths) {
  std::vector<DimRange<N>> out;
  std::size_t next = 0;
  auto take = [&](bool present) -> std::optional<N> {
    if (!present) return {};
    return values[next++];
  };
  for (std::size_t axis = 0; axis < lengths.size(); ++axis) {
    const DimIndex dim = axis < pattern.dims().size() ? pattern.dims()[axis] : DimIndex{};
    if (dim.integer) {
      const N index = values[next++];
      const N wrapped = a.choose(a.negative(index), a.add(index, lengths[axis]), index);
      out.push_back({wrapped, a.number(1), a.number(1), true});
    } else {
      auto start = take(dim.start), stop = take(dim.stop), step = take(dim.step);
      out.push_back(slice_range(a, start, stop, step, lengths[axis]));
    }
  }
  return out;
}

}  // namespace bitale
