// When two values count as the same, and how much they differ.
#pragma once

#include <string>
#include <vector>

#include "bitale/core/array.hpp"

namespace bitale {

// What a rewrite claims about values that it changes on purpose.
struct Allowance {
  bool wider = false;          // what was not finite may become anything
  bool more_accurate = false;  // rounding may have been worse before, up to overflow
  bool special = false;        // at some special values the rewrite is known to differ
};

// numpy.allclose with tolerances of the dtype (those of PyTensor's values_eq_approx), nan equal to nan; integers and
// truths exactly. False when dtypes or shapes differ.
bool values_agree(const Array& before, const Array& after, const Allowance& allowance = {});
// Whether the value has neither nan nor inf.
bool all_finite(const Array& value);
// Largest, mean, median and standard deviation of absolute and relative differences, and where the largest is.
std::string difference_text(const Array& a, const Array& b);

}  // namespace bitale
