// Conversion of one element to another type, defined for every value. Floats outside an integer type's range and NaN
// (undefined in C++) become what NumPy on x86-64 gives: the smallest int32 or int64, cut to the low bits of narrower
// types.
#pragma once

#include "bitale/core/language.hpp"

#include <limits>
#include <type_traits>

#include "bitale/core/dtype.hpp"

namespace bitale {

// The nearest integer towards zero, or the smallest integer when it does not fit.
template <std::signed_integral To, std::floating_point From>
constexpr To truncate_or_min(From value) {
  constexpr From bound = -From(std::numeric_limits<To>::min());  // a power of two, so exact
  // The sum is exact where it matters: -bound - 0.5 still truncates to the smallest integer.
  const bool fits = value < bound && (value >= -bound || value > -bound - From(1));
  return fits ? To(value) : std::numeric_limits<To>::min();
}

template <Element To, Element From>
constexpr To convert_element(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (is_half<From> && !std::is_same_v<From, To>) {
    return convert_element<To>(float(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    constexpr From two_63 = From(9223372036854775808.0);
    if constexpr (std::is_same_v<To, std::uint64_t>) {
      // The same as in compiled code: the upper half of the range is converted by way of a subtraction.
      if (value >= two_63)
        return std::uint64_t(truncate_or_min<std::int64_t>(value - two_63)) ^ (std::uint64_t(1) << 63);
      return std::uint64_t(truncate_or_min<std::int64_t>(value));
    } else if constexpr (sizeof(To) == 8 || std::is_same_v<To, std::uint32_t>) {
      return To(truncate_or_min<std::int64_t>(value));
    } else {
      return To(truncate_or_min<std::int32_t>(value));
    }
  } else {
    return To(value);
  }
}

}  // namespace bitale
