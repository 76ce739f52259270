// What indexes a dimension besides an integer, written as in NumPy: slice(1, n) is 1:n, slice({}, 3) is :3, and
// slice({}, {}, -1) is ::-1. Here for positions that are numbers, which index Arrays; ops/ops.hpp has those that are
// expressions.
#pragma once

#include "bitale/core/language.hpp"

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <variant>

namespace bitale {

struct NewAxis {};
struct Ellipsis {};

// start:stop:step, where an absent entry is Python's None.
struct IndexRange {
  std::optional<std::int64_t> start = {}, stop = {}, step = {};
};

// An entry of a slice that is left out, as {}.
struct Absent {};
template <class T>
concept NumericBound = (std::integral<T> && !std::same_as<T, bool>) || std::same_as<T, Absent>;

inline IndexRange slice() { return {}; }
template <NumericBound Start = Absent, NumericBound Stop = Absent, NumericBound Step = Absent>
IndexRange slice(Start start, Stop stop, Step step = {}) {
  const auto bound = []<class T>(T value) -> std::optional<std::int64_t> {
    if constexpr (std::is_same_v<T, Absent>)
      return std::nullopt;
    else
      return std::int64_t(value);
  };
  return {bound(start), bound(stop), bound(step)};
}

// An entry of array[{...}].
struct ArrayIndex : std::variant<std::int64_t, IndexRange, NewAxis, Ellipsis> {
  template <std::integral T>
  ArrayIndex(T index) : variant(std::int64_t(index)) {}
  ArrayIndex(IndexRange range) : variant(range) {}
  ArrayIndex(NewAxis axis) : variant(axis) {}
  ArrayIndex(Ellipsis ellipsis) : variant(ellipsis) {}
};

}  // namespace bitale
