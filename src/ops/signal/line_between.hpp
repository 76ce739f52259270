// The line between two points, for tensors and for labelled tensors.
#pragma once

#include <cstdint>

namespace bitale {

// Two points of a line, floats, with x_low <= x_high.
template <class V>
struct LineEnds {
  V x_low, x_high, y_low, y_high;
};

// The value at `where` on the line through two points, as numpy.interp computes it. A point that is hit has its own
// ordinate, and so has everything between equal ordinates, where the formula of a line would multiply an infinite
// difference by 0; otherwise a line is drawn from the end that is finite. Where a difference is not finite and does not
// count, the formula has 0 in its place, so that it makes no gradient nan.
template <class V>
V on_line_between(const LineEnds<V>& ends, const V& where_to) {
  const V rise = sub(ends.y_high, ends.y_low), run = sub(ends.x_high, ends.x_low), beyond = sub(where_to, ends.x_low);
  const V is_ordinary = and_(and_(isfinite(rise), isfinite(beyond)), and_(gt(run, 0), isfinite(run)));
  const V hits_low = eq(where_to, ends.x_low), hits_high = eq(where_to, ends.x_high);
  const V is_level = and_(invert(is_ordinary), or_(or_(hits_low, hits_high), eq(ends.y_low, ends.y_high)));
  const V is_low_finite = and_(isfinite(ends.y_low), isfinite(ends.x_low));
  const V is_from_high = where(is_level, and_(hits_high, invert(hits_low)), invert(is_low_finite));
  const V y = where(is_from_high, ends.y_high, ends.y_low), x = where(is_from_high, ends.x_high, ends.x_low);
  const V slope = true_div(where(is_level, 0, rise), where(is_level, 1, run));
  return add(y, mul(slope, where(is_level, 0, sub(where_to, x))));
}

}  // namespace bitale
