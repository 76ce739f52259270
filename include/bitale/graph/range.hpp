// Bounds of a variable's values, which an op derives from those of its inputs (Op::range). They are mathematical
// bounds: that exp underflows to 0 does not count, and nan lies within all bounds.
#pragma once

#include <limits>

namespace bitale {

struct Range {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  bool low_open = false, high_open = false;  // the bound itself is not reached

  bool is_positive() const { return low > 0 || (low == 0 && low_open); }
  bool is_negative() const { return high < 0 || (high == 0 && high_open); }
  bool is_always(double value) const { return low == value && high == value; }
};

// The ranges of a node's inputs, computed on request.
class InputRanges {
 public:
  virtual ~InputRanges() = default;
  virtual Range of(int input) = 0;
};

}  // namespace bitale
