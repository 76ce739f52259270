// When two values count as equal, and by how much they differ.
#pragma once

#include <string>
#include <vector>

#include "bitale/core/array.hpp"

namespace bitale {

// The differences that a rewrite declares for the values that it replaces.
struct Allowance {
  bool wider = false;          // a value that was not finite may become anything
  bool more_accurate = false;  // the value before may have had worse rounding errors, up to overflow
  bool special = false;        // the rewrite is known to differ at some special values
};

// numpy.allclose with tolerances of the dtype (those of PyTensor's values_eq_approx), where nan equals nan; integers
// and bools are compared exactly. False when dtypes or shapes differ.
bool values_agree(const Array& before, const Array& after, const Allowance& allowance = {});
// Whether the value has neither nan nor inf.
bool all_finite(const Array& value);
// Largest, mean, median and standard deviation of absolute and relative differences, and where the largest is.
std::string difference_text(const Array& a, const Array& b);

}  // namespace bitale
