// Bounds of a variable's values, read off its expression: exp(x) is positive, sigmoid(x) lies between 0 and 1. The
// bounds are those of mathematics: that exp underflows to 0 does not count, and nan lies within all bounds.
#pragma once

#include <limits>

#include "bitale/graph/variable.hpp"

namespace bitale {

struct Range {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  bool low_open = false, high_open = false;  // the bound itself is not reached

  bool is_positive() const { return low > 0 || (low == 0 && low_open); }
  bool is_negative() const { return high < 0 || (high == 0 && high_open); }
  bool is_always(double value) const { return low == value && high == value; }
};

// Looks a few levels deep; what it does not know is unbounded, or bounded by its dtype. A condition that holds for
// all values within bounds has the range [1, 1].
Range range_of(const Variable& variable);

}  // namespace bitale
