// The functions of reductions.hpp, as formulas of other reductions: nan is replaced by the element that does not count.
#include <cmath>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/complex.hpp"
#include "bitale/ops/cumulative.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/reductions.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/reductions/reduce.hpp"

namespace bitale {

namespace {

bool may_hold_nan(const Operand& x) { return !is_discrete(x.dtype()); }

Variable with_nan_as(const Variable& x, double value) { return switch_(isnan(x), cast(Operand(value), x.dtype()), x); }

// The number of elements that are not nan, as a float.
Variable count_of_numbers(const Variable& x, const Axes& axis, KeepDims keepdims) {
  return cast(sum(invert(isnan(x)), axis, keepdims), component_dtype(x.dtype()));
}

// The function of float16 computed as float32, in whose range sums and squares are.
template <class Statistic>
Variable computed_wide(const Variable& x, const Statistic& statistic) {
  const DType dtype = x.dtype(), wide = computing_dtype(dtype);
  return wide == dtype ? statistic(x) : cast(statistic(cast(x, wide)), component_dtype(dtype));
}

Variable average_of_numbers(const Variable& x, const Axes& axis, KeepDims keepdims) {
  return true_div(sum(with_nan_as(x, 0), axis, keepdims), count_of_numbers(x, axis, keepdims));
}

Variable variance_of_numbers(const Variable& x, const Axes& axis, int ddof, KeepDims keepdims) {
  const Variable distance = switch_(isnan(x), 0, sub(x, average_of_numbers(x, axis, KeepDims::Yes)));
  const Variable squares = is_complex(x.dtype()) ? add(sqr(real(distance)), sqr(imag(distance))) : sqr(distance);
  const Variable count = sub(count_of_numbers(x, axis, keepdims), ddof);
  const Variable mean = true_div(sum(squares, axis, keepdims), count);
  return switch_(le(count, 0), cast(Operand(NAN), mean.dtype()), mean);
}

using Extreme = Variable (*)(const Operand&, const Axes&, KeepDims);
Variable extreme_of_numbers(const Operand& x, const Axes& axis, KeepDims keepdims, Extreme extreme, double neutral) {
  const LocationScope here(x.where);
  if (!may_hold_nan(x)) return extreme(x, axis, keepdims);
  const Variable value = extreme(with_nan_as(x.variable, neutral), axis, keepdims);
  return switch_(all(isnan(x), axis, keepdims), cast(Operand(NAN), value.dtype()), value);
}

using Position = Variable (*)(const Operand&, const Axes&, KeepDims);
Variable position_among_numbers(const Operand& x, std::optional<int> axis, KeepDims keepdims, Position position,
                                double neutral, const char* who) {
  const LocationScope here(x.where);
  if (!may_hold_nan(x)) return position(x, axis, keepdims);
  const Axes axes = axis;
  // A row whose numbers are all equal to the neutral one: the first of them, not a nan before it.
  const Variable value = with_nan_as(x.variable, neutral);
  const Variable best = neutral < 0 ? max(value, axes, KeepDims::Yes) : min(value, axes, KeepDims::Yes);
  const Variable found = argmax(and_(eq(value, best), invert(isnan(x))), axis, keepdims);
  return check_and_raise(found, {invert(any(all(isnan(x), axes)))}, "ValueError",
                         cat(who, ": all elements along the axis are nan"));
}

using CumulativeFunction = Variable (*)(const Operand&, std::optional<int>);
Variable cumulative(const Operand& x, const CumulativeOptions& options, CumulativeFunction function, int start,
                    const char* who) {
  const LocationScope here(x.where);
  if (!options.axis && x.ndim() != 1)
    throw ValueError(cat(who, ": expected an axis for ", x.variable.str(), " of ", x.ndim(), " dimensions"));
  const int axis = normal_axis(options.axis.value_or(0), x.ndim(), who);
  const Variable sums = function(options.dtype ? cast(x, *options.dtype) : x, axis);
  const Variable out = options.dtype ? cast(sums, *options.dtype) : sums;
  if (!options.include_initial) return out;
  Shape lengths = lengths_of(out);
  lengths[std::size_t(axis)] = int64_constant(1);
  return join(axis, {alloc(cast(Operand(start), out.dtype()), Operands(lengths)), out});
}

}  // namespace

Variable nansum(const Operand& x, const Axes& axis, KeepDims keepdims, std::optional<DType> dtype) {
  const LocationScope here(x.where);
  return sum(may_hold_nan(x) ? with_nan_as(x.variable, 0) : x.variable, axis, keepdims, dtype);
}

Variable nanprod(const Operand& x, const Axes& axis, KeepDims keepdims, std::optional<DType> dtype) {
  const LocationScope here(x.where);
  return prod(may_hold_nan(x) ? with_nan_as(x.variable, 1) : x.variable, axis, keepdims, dtype);
}

Variable nanmax(const Operand& x, const Axes& axis, KeepDims keepdims) {
  return extreme_of_numbers(x, axis, keepdims, max, -INFINITY);
}
Variable nanmin(const Operand& x, const Axes& axis, KeepDims keepdims) {
  return extreme_of_numbers(x, axis, keepdims, min, INFINITY);
}

Variable nanmean(const Operand& x, const Axes& axis, KeepDims keepdims, std::optional<DType> dtype) {
  const LocationScope here(x.where);
  if (dtype && !is_discrete(*dtype)) return nanmean(cast(x, *dtype), axis, keepdims);
  if (!may_hold_nan(x)) return mean(x, axis, keepdims, dtype);
  const Variable out =
      computed_wide(x.variable, [&](const Variable& value) { return average_of_numbers(value, axis, keepdims); });
  return dtype ? cast(out, *dtype) : out;
}

Variable nanvar(const Operand& x, const Axes& axis, int ddof, KeepDims keepdims) {
  const LocationScope here(x.where);
  if (!may_hold_nan(x)) return var(x, axis, ddof, keepdims);
  return computed_wide(x.variable,
                       [&](const Variable& value) { return variance_of_numbers(value, axis, ddof, keepdims); });
}

Variable nanstd(const Operand& x, const Axes& axis, int ddof, KeepDims keepdims) {
  const LocationScope here(x.where);
  if (!may_hold_nan(x)) return std_(x, axis, ddof, keepdims);
  return computed_wide(x.variable,
                       [&](const Variable& value) { return sqrt(variance_of_numbers(value, axis, ddof, keepdims)); });
}

Variable nanargmax(const Operand& x, std::optional<int> axis, KeepDims keepdims) {
  return position_among_numbers(x, axis, keepdims, argmax, -INFINITY, "nanargmax");
}
Variable nanargmin(const Operand& x, std::optional<int> axis, KeepDims keepdims) {
  return position_among_numbers(x, axis, keepdims, argmin, INFINITY, "nanargmin");
}

Variable nancumsum(const Operand& x, std::optional<int> axis) {
  const LocationScope here(x.where);
  return cumsum(may_hold_nan(x) ? with_nan_as(x.variable, 0) : x.variable, axis);
}
Variable nancumprod(const Operand& x, std::optional<int> axis) {
  const LocationScope here(x.where);
  return cumprod(may_hold_nan(x) ? with_nan_as(x.variable, 1) : x.variable, axis);
}

Variable count_nonzero(const Operand& x, const Axes& axis, KeepDims keepdims) {
  const LocationScope here(x.where);
  return sum(neq(x, 0), axis, keepdims);
}

Variable cumulative_sum(const Operand& x, const CumulativeOptions& options) {
  return cumulative(x, options, cumsum, 0, "cumulative_sum");
}
Variable cumulative_prod(const Operand& x, const CumulativeOptions& options) {
  return cumulative(x, options, cumprod, 1, "cumulative_prod");
}

}  // namespace bitale
