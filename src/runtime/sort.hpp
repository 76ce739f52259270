// Sorting rows, for generated code and for `perform`: plain C functions over contiguous rows, in NumPy's order, where
// nan comes last. Wide vectors are used if the machine has them (sort_vectors.cpp), the standard library otherwise.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bitale/core/dtype.hpp"

// The element types of rows.
#define BITALE_SORTED_DTYPES(X) BITALE_DISCRETE_DTYPES(X) BITALE_FLOAT_DTYPES(X)

extern "C" {
// bt_sort_f64(rows, length, from, to): each row of `to` is that row of `from`, ascending; -0 before +0.
// bt_argsort_f64(rows, length, from, to): where the elements of each sorted row were; equal ones keep their order.
#define X(id, name, suffix, T, ...)                                                             \
  void bt_sort_##suffix(std::int64_t rows, std::int64_t length, const T* from, T* to) noexcept; \
  void bt_argsort_##suffix(std::int64_t rows, std::int64_t length, const T* from, std::int64_t* to) noexcept;
BITALE_SORTED_DTYPES(X)
#undef X
}

#if BITALE_HAVE_HIGHWAY && defined(__x86_64__)
#define BITALE_VECTOR_SORTS 1
#else
#define BITALE_VECTOR_SORTS 0
#endif

namespace bitale::runtime {

// A number of 128 bits.
struct alignas(16) Pair {
  std::uint64_t low, high;
};

// clang-format off
#define BITALE_VECTOR_SORTED_TYPES(X)                                                                             \
  X(std::uint16_t) X(std::int16_t) X(std::uint32_t) X(std::int32_t) X(std::uint64_t) X(std::int64_t)              \
  X(float) X(double) X(Pair)
// clang-format on

#if BITALE_VECTOR_SORTS
// Sorts in ascending order, by vectors. Returns false, with nothing done, if the machine has none that are wide enough.
// Floats must be finite, and no zero negative.
#define X(T) bool sort_by_vectors(T* x, std::size_t count);
BITALE_VECTOR_SORTED_TYPES(X)
#undef X
#endif

}  // namespace bitale::runtime
