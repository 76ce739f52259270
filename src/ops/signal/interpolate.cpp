// Interpolation in one dimension, composed of searchsorted and indexing.
#include "bitale/ops/interpolate.hpp"

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/search.hpp"
#include "bitale/ops/sorting.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/signal/line_between.hpp"

namespace bitale {

namespace {

void require_points(const Operand& x, const Operand& y, const char* who) {
  if (x.ndim() != 1 || y.ndim() != 1)
    throw ValueError(
        cat(who, ": the points must be two vectors, but have ", x.ndim(), " and ", y.ndim(), " dimensions"));
  const std::int64_t n = x.variable.static_shape()[0], m = y.variable.static_shape()[0];
  if (n != unknown_length && m != unknown_length && n != m)
    throw ValueError(cat(who, ": the points must be as many in x as in y, but are ", n, " and ", m));
  if (n == 0 || m == 0) throw ValueError(cat(who, ": there must be at least one point"));
}

Variable values_at(const Variable& x, const Variable& indices) { return subtensor(x, {IndexItem(indices)}); }
Variable values_at(const Variable& x, int index) { return subtensor(x, {IndexItem(index)}); }

struct Points {
  Variable x, y;  // x increases
};

// The value on the line through the last point not above `where` and the next one; outside the points, on the line
// through the first or last two points.
Variable on_line(const Points& p, const Variable& where) {
  const Variable zero = int64_constant(0), one = int64_constant(1), n = length_of(p.x, 0);
  const Variable low =
      clip(sub(searchsorted(p.x, where, SearchSide::Right), one), zero, lengths::max(sub(n, int64_constant(2)), zero));
  const Variable high = minimum(add(low, one), sub(n, one));
  // Differences of integers may be beyond their dtype.
  DType dtype = promote(promote(p.x.dtype(), p.y.dtype()), where.dtype());
  if (is_discrete(dtype)) dtype = DType::Float64;
  const auto as_float = [&](const Variable& v) { return is_discrete(v.dtype()) ? cast(v, dtype) : v; };
  const auto at = [&](const Variable& v, const Variable& indices) { return as_float(values_at(v, indices)); };
  const LineEnds<Variable> ends{at(p.x, low), at(p.x, high), at(p.y, low), at(p.y, high)};
  return on_line_between(ends, as_float(where));
}

Variable on_step(InterpolationMethod method, const Points& p, const Variable& where) {
  const Variable zero = int64_constant(0), one = int64_constant(1), last = sub(length_of(p.x, 0), one);
  const Variable index = searchsorted(p.x, where);
  if (method == InterpolationMethod::First) return values_at(p.y, clip(sub(index, one), zero, last));
  if (method == InterpolationMethod::Last) return values_at(p.y, clip(index, zero, last));
  const Variable high = clip(index, lengths::min(one, last), last), low = maximum(sub(high, one), zero);
  if (method == InterpolationMethod::Mean) return (values_at(p.y, low) + values_at(p.y, high)) / 2;
  return switch_(le(where - values_at(p.x, low), values_at(p.x, high) - where), values_at(p.y, low),
                 values_at(p.y, high));
}

}  // namespace

std::function<Variable(const Operand&)> interpolate1d(const Operand& x, const Operand& y,
                                                      const InterpolationOptions& options) {
  const InterpolationMethod method = options.method;
  require_points(x, y, "interpolate1d");
  const Variable order = argsort(x);
  const Points points{values_at(x.variable, order), values_at(y.variable, order)};
  const Variable left = options.left_pad ? options.left_pad->variable : values_at(points.y, 0);
  const Variable right = options.right_pad ? options.right_pad->variable : values_at(points.y, -1);
  return [points, left, right, method, extrapolate = options.extrapolate](const Operand& operand) {
    const LocationScope here(operand.where);
    const Variable& where = operand.variable;
    const Variable first = values_at(points.x, 0), last = values_at(points.x, -1);
    const Variable is_below = lt(where, first), is_above = gt(where, last);
    // An infinite position on a line would make gradients nan, though another value takes its place.
    const bool may_be_outside = !extrapolate && is_float(where.dtype());
    const Variable inside =
        may_be_outside ? switch_(or_(is_below, is_above), cast(first, where.dtype()), where) : where;
    Variable out = method == InterpolationMethod::Linear ? on_line(points, inside) : on_step(method, points, where);
    if (!extrapolate) {
      // The last point's value is exact, without the rounding of the line; this includes a single point.
      if (method == InterpolationMethod::Linear) out = switch_(eq(where, last), values_at(points.y, -1), out);
      out = switch_(is_below, left, switch_(is_above, right, out));
    }
    return is_float(where.dtype()) ? switch_(isnan(where), where, out) : out;
  };
}

Variable interp(const Operand& x, const Operand& xp, const Operand& fp, const InterpOptions& options) {
  const LocationScope here(x.where);
  require_points(xp, fp, "interp");
  if (!options.period)
    return interpolate1d(xp, fp, {.left_pad = options.left, .right_pad = options.right, .extrapolate = false})(x);
  if (const Array* known = options.period->variable.constant(); known && known->ndim() == 0 && known->item() == 0)
    throw ValueError("interp: period must not be 0");
  const Variable period = abs(*options.period);
  Variable points = mod(xp, period), values = fp.variable;
  const Variable order = argsort(points);
  points = values_at(points, order);
  values = values_at(values, order);
  const Slice first{{}, Operand(1), {}}, last{Operand(-1), {}, {}};
  const auto ends = [](const Variable& v, const Slice& slice) { return subtensor(v, {IndexItem(slice)}); };
  points = concatenate({sub(ends(points, last), period), points, add(ends(points, first), period)});
  values = concatenate({ends(values, last), values, ends(values, first)});
  return interpolate1d(points, values)(mod(x, period));
}

}  // namespace bitale
