// Helpers for the exact forms of records: rules from numbers of many digits to one, or to none if the function is
// mathematically undefined there or the number would be out of reach.
#pragma once

#include <optional>
#include <span>

#include "ops/elementwise/scalar_op.hpp"
#include "runtime/exact.hpp"

namespace bitale::records {

using Numbers = std::span<const exact::Number>;

inline bool overflows(const exact::Number& x) { return abs(x) > 1e8; }

// A function that grows or saturates exponentially.
template <exact::Number (*f)(const exact::Number&)>
ExactValue exact_bounded(Numbers a) {
  return overflows(a[0]) ? ExactValue() : ExactValue(f(a[0]));
}
inline exact::Number exact_truth(bool value) { return value ? 1 : 0; }
ExactValue exact_power(const exact::Number& x, const exact::Number& y);
// asinh of a non-negative number.
exact::Number exact_arcsinh(const exact::Number& x);

}  // namespace bitale::records
