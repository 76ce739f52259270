// Plain loops over several strided arrays at once, for `perform`: simple and correct rather than fast.
#pragma once

#include <array>
#include <cstring>

#include "bitale/core/array.hpp"

namespace bitale {

// Calls body(offsets) for every position of `shape` in row-major order; offsets[i] is the byte offset in array i, which
// has strides[i] (0 where it is broadcast).
template <std::size_t N, class Body>
void for_each_offset(const Dims& shape, const std::array<Dims, N>& strides, Body&& body) {
  for (std::int64_t length : shape)
    if (length == 0) return;
  std::array<std::int64_t, N> offsets{};
  Dims position(shape.size(), 0);
  while (true) {
    body(offsets);
    std::size_t axis = shape.size();
    while (true) {
      if (axis == 0) return;
      --axis;
      for (std::size_t i = 0; i < N; ++i) offsets[i] += strides[i][axis];
      if (++position[axis] < shape[axis]) break;
      for (std::size_t i = 0; i < N; ++i) offsets[i] -= strides[i][axis] * shape[axis];
      position[axis] = 0;
    }
  }
}

// Whether the array is writable and each element has memory of its own (no dimension repeats it by a stride of 0).
inline bool has_distinct_writable_elements(const Array& x) {
  if (!x.writeable()) return false;
  for (int axis = 0; axis < x.ndim(); ++axis)
    if (x.shape(axis) > 1 && x.strides()[std::size_t(axis)] == 0) return false;
  return true;
}

// A bool sum is "or"; integers wrap around.
template <class T>
T sum_of(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a || b;
  } else if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return T(Unsigned(Unsigned(a) + Unsigned(b)));
  } else if constexpr (is_half<T>) {
    return float(a) + float(b);
  } else {
    return a + b;
  }
}

// A bool product is "and"; integers wrap around.
template <class T>
T product_of(T a, T b) {
  if constexpr (std::is_same_v<T, bool>)
    return a && b;
  else if constexpr (std::is_integral_v<T>)
    return T(std::uint64_t(a) * std::uint64_t(b));
  else if constexpr (is_half<T>)
    return float(a) * float(b);
  else
    return a * b;
}

// x += y of equal dtype and shape.
inline void add_into(const Array& x, const Array& y) {
  visit_dtype(x.dtype(), [&]<class T>() {
    char* to = static_cast<char*>(x.mutable_data());
    const char* from = static_cast<const char*>(y.data());
    for_each_offset<2>(x.shape(), {x.strides(), y.strides()}, [&](auto& at) {
      T a, b;
      std::memcpy(&a, to + at[0], sizeof(T));
      std::memcpy(&b, from + at[1], sizeof(T));
      a = sum_of(a, b);
      std::memcpy(to + at[0], &a, sizeof(T));
    });
  });
}

}  // namespace bitale
