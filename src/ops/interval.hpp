// Arithmetic on ranges of values: what records of scalar ops and other ops say of their outputs' bounds.
#pragma once

#include "bitale/graph/range.hpp"
#include "bitale/graph/variable.hpp"

namespace bitale::interval {

inline constexpr double most_exact = 9007199254740992;  // integers up to here are doubles

struct End {
  double value;
  bool open;
};
inline End low_of(const Range& r) { return {r.low, r.low_open}; }
inline End high_of(const Range& r) { return {r.high, r.high_open}; }
// nan: nothing is known of this end.
Range between(End low, End high);
End smaller(End a, End b);
End larger(End a, End b);

inline Range at_least(double low, bool open = false) { return {.low = low, .low_open = open}; }
inline Range closed(double low, double high) { return {.low = low, .high = high}; }
// Whatever lies in one or the other.
Range either(const Range& a, const Range& b);

Range of_all(const Apply& node, InputRanges& inputs);

Range negated(const Range& a);
Range sum(const Range& a, const Range& b);
Range product(const Range& a, const Range& b);
Range inverse(const Range& a);  // of what keeps its sign; else nothing is known
Range size(const Range& a);     // of absolute values
Range power(const Range& base, const Range& exponent);
Range maximum(const Range& a, const Range& b);
Range minimum(const Range& a, const Range& b);

// Of a condition that always holds, or never.
Range truth(bool always, bool never);
bool is_below(const Range& a, const Range& b);
bool is_not_above(const Range& a, const Range& b);
bool is_same_number(const Range& a, const Range& b);

}  // namespace bitale::interval
