// Arithmetic on ranges of values, with which scalar records and other ops declare the bounds of their outputs.
#pragma once

#include "bitale/graph/range.hpp"
#include "bitale/graph/variable.hpp"

namespace bitale::interval {

inline constexpr double max_exact = 9007199254740992;  // integers up to here are exact in double

struct End {
  double value;
  bool open;
};
inline End low_of(const Range& r) { return {r.low, r.low_open}; }
inline End high_of(const Range& r) { return {r.high, r.high_open}; }
// An end that is nan is unknown.
Range between(End low, End high);
End smaller(End a, End b);
End larger(End a, End b);

inline Range at_least(double low, bool open = false) { return {.low = low, .low_open = open}; }
inline Range closed(double low, double high) { return {.low = low, .high = high}; }
// The smallest range that includes both.
Range either(const Range& a, const Range& b);

Range of_all(const Apply& node, InputRanges& inputs);

Range negated(const Range& a);
Range sum(const Range& a, const Range& b);
Range product(const Range& a, const Range& b);
Range inverse(const Range& a);  // unknown unless the values keep one sign
Range size(const Range& a);     // range of the absolute values
Range power(const Range& base, const Range& exponent);
Range maximum(const Range& a, const Range& b);
Range minimum(const Range& a, const Range& b);

// The range of a condition that always holds, never holds, or may do either.
Range truth(bool always, bool never);
bool is_below(const Range& a, const Range& b);
bool is_not_above(const Range& a, const Range& b);
bool is_same_number(const Range& a, const Range& b);

}  // namespace bitale::interval
