// Order statistics, as gathers from sorted elements: medians and quantiles. A method is a row of a table: where between
// the sorted elements a quantile lies, and how the elements around that position are weighted.
#include "bitale/ops/quantile.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/arrange.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/elementary.hpp"
#include "bitale/ops/sorting.hpp"
#include "graph/evaluate.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/reductions/reduce.hpp"

namespace bitale {

namespace {

// The axes moved to the end and joined into one dimension.
Variable with_last(const Variable& x, const std::vector<int>& axes) {
  std::vector<int> order;
  for (int axis = 0; axis < x.ndim(); ++axis)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) order.push_back(axis);
  const int kept = int(order.size());
  order.insert(order.end(), axes.begin(), axes.end());
  return join_dims(dimshuffle(x, order), kept);
}

// The dimensions that with_last and an index have removed, restored with length 1.
Variable with_kept(const Variable& reduced, const std::vector<int>& axes) {
  Variable out = reduced;
  for (int axis : axes) out = expand_dims(out, axis);
  return out;
}

Variable last_element(const Variable& x, const Variable& index) {
  return subtensor(x, {IndexItem(Ellipsis{}), IndexItem(index)});
}

// nan for sorted rows that end with a nan, which means that they contain one.
Variable nan_if_any(const Variable& sorted, const Variable& value) {
  if (!is_float(sorted.dtype())) return value;
  const Variable last = last_element(sorted, int64_constant(-1));
  return switch_(isnan(last), cast(last, value.dtype()), value);
}

// The weight of the element above a position, from the fraction of the position and from its whole part.
using Share = Variable (*)(const Variable& fraction, const Variable& whole);

Variable chosen_share(const Variable& condition, double if_true, double if_false) {
  return switch_(condition, constant(Array(if_true)), constant(Array(if_false)));
}
Variable as_it_is(const Variable& fraction, const Variable&) { return fraction; }

struct MethodRow {
  QuantileMethod method;
  std::string_view name;
  // The position is q n + alpha + q (1 - alpha - beta) - 1, counted from 0.
  double alpha, beta;
  Share share;
};

constexpr MethodRow methods[] = {
    {QuantileMethod::InvertedCdf, "inverted_cdf", 0, 1,
     [](const Variable& fraction, const Variable&) { return chosen_share(gt(fraction, 0), 1, 0); }},
    {QuantileMethod::AveragedInvertedCdf, "averaged_inverted_cdf", 0, 1,
     [](const Variable& fraction, const Variable&) { return chosen_share(gt(fraction, 0), 1, 0.5); }},
    {QuantileMethod::ClosestObservation, "closest_observation", -0.5, 1.5,
     [](const Variable& fraction, const Variable& whole) {
       return chosen_share(and_(eq(fraction, 0), eq(mod(whole, 2), 1)), 0, 1);
     }},
    {QuantileMethod::InterpolatedInvertedCdf, "interpolated_inverted_cdf", 0, 1, as_it_is},
    {QuantileMethod::Hazen, "hazen", 0.5, 0.5, as_it_is},
    {QuantileMethod::Weibull, "weibull", 0, 0, as_it_is},
    {QuantileMethod::Linear, "linear", 1, 1, as_it_is},
    {QuantileMethod::MedianUnbiased, "median_unbiased", 1 / 3.0, 1 / 3.0, as_it_is},
    {QuantileMethod::NormalUnbiased, "normal_unbiased", 3 / 8.0, 3 / 8.0, as_it_is},
    {QuantileMethod::Lower, "lower", 1, 1, [](const Variable&, const Variable&) { return constant(Array(0.0)); }},
    {QuantileMethod::Higher, "higher", 1, 1,
     [](const Variable& fraction, const Variable&) { return chosen_share(gt(fraction, 0), 1, 0); }},
    {QuantileMethod::Midpoint, "midpoint", 1, 1,
     [](const Variable& fraction, const Variable&) { return chosen_share(gt(fraction, 0), 0.5, 0); }},
    {QuantileMethod::Nearest, "nearest", 1, 1,
     [](const Variable& fraction, const Variable& whole) {
       const Variable is_odd = and_(eq(fraction, 0.5), eq(mod(whole, 2), 1));
       return chosen_share(or_(gt(fraction, 0.5), is_odd), 1, 0);
     }},
};

const MethodRow& row_of(QuantileMethod method) {
  return *std::find_if(std::begin(methods), std::end(methods),
                       [&](const MethodRow& row) { return row.method == method; });
}

// The product of a count and a part of it, as it is rounded. Where a quantile lies between two elements depends on
// that: 5 * 0.2 is 1, but less than 1 when the product is contracted with a sum. No rule looks through copysign, which
// does not change a product that is not negative.
Variable rounded_product(const Variable& count, const Variable& part) { return copysign(mul(count, part), 1.0); }

// The position among `count` sorted elements, as a float64 number.
Variable position_of(const MethodRow& row, const Variable& count, const Variable& part) {
  if (row.alpha == 1 && row.beta == 1) return rounded_product(sub(count, 1.0), part);
  const double both = 1 - row.alpha - row.beta;
  const Variable offset = both == 0 ? constant(Array(row.alpha)) : add(row.alpha, mul(part, both));
  return sub(add(rounded_product(count, part), offset), 1.0);
}

// The elements around a position, weighted. at: the sorted elements at indices in range.
template <class At>
Variable between_neighbours(const MethodRow& row, const Variable& count, const Variable& part, DType dtype,
                            const At& at) {
  const Variable position = position_of(row, count, part), whole = floor(position);
  const Variable last = sub(cast(count, DType::Int64), int64_constant(1)), none = int64_constant(0);
  const auto in_rows = [&](const Variable& i) { return maximum(minimum(cast(i, DType::Int64), last), none); };
  const Variable low = at(in_rows(whole)), high = at(in_rows(add(whole, 1.0)));
  const Variable share = cast(row.share(sub(position, whole), whole), dtype), step = sub(high, low);
  // Interpolated from the nearer end, so that the limits are exact; next to an infinite element, from the finite end.
  // An infinite difference does not count where an element itself is the quantile.
  const Variable is_near_low = lt(share, 0.5), is_element = or_(eq(share, 0), eq(share, 1));
  const Variable is_level = and_(invert(isfinite(step)), or_(is_element, eq(low, high)));
  const Variable is_from_low =
      switch_(or_(isfinite(step), is_level), is_near_low, and_(isfinite(low), invert(isfinite(high))));
  const Variable change = switch_(is_level, 0, step);
  return switch_(is_from_low, add(low, mul(change, share)), sub(high, mul(change, sub(1, share))));
}

// [kept..., q] to [q, kept...]
Variable with_quantiles_first(const Variable& x) {
  std::vector<int> order(std::size_t(x.ndim()));
  std::iota(order.begin() + 1, order.end(), 0);
  order[0] = x.ndim() - 1;
  return dimshuffle(x, order);
}

// q, whose elements are in [0, 1]: now, if they are known, or in a call.
Variable checked_fractions(const Operand& q, const char* who) {
  if (q.ndim() > 1)
    throw ValueError(
        cat(who, ": expected a scalar or a vector q, got ", q.variable.str(), " with ", q.ndim(), " dimensions"));
  if (q.variable.is_constant()) {
    const Array values = q.variable.constant()->astype(DType::Float64).contiguous();
    for (std::int64_t i = 0; i < values.size(); ++i)
      if (!(values.data_as<double>()[i] >= 0 && values.data_as<double>()[i] <= 1))
        throw ValueError(cat(who, ": expected q in [0, 1], got ", values.data_as<double>()[i]));
  }
  return check_and_raise(cast(q, DType::Float64), {all(and_(ge(q, 0), le(q, 1)))}, "ValueError",
                         cat(who, ": q must be in [0, 1]"));
}

DType quantile_dtype(const Operand& x, const char* who) {
  if (is_complex(x.dtype())) throw TypeError(cat(who, ": complex numbers have no order"));
  return is_float(x.dtype()) ? x.dtype() : DType::Float64;
}

Variable hundredths(const Operand& q) {
  const Variable part = true_div(cast(q, DType::Float64), 100.0);
  return q.variable.is_constant() ? constant(evaluate(part)) : part;
}

}  // namespace

QuantileMethod quantile_method(std::string_view name) {
  std::string known;
  for (const MethodRow& row : methods) {
    if (row.name == name) return row.method;
    known += cat(known.empty() ? "" : ", ", '"', row.name, '"');
  }
  throw ValueError(cat("quantile: expected a method among ", known, ", got \"", name, '"'));
}

Variable median(const Operand& x, const Axes& axis, KeepDims keepdims) {
  const LocationScope here(x.where);
  const std::vector<int> axes = axes_or_all("median", axis, x.ndim());
  if (axes.empty()) return cast(x, is_float(x.dtype()) ? x.dtype() : DType::Float64);
  const Variable sorted = sort(with_last(x.variable, axes));
  const Variable n = length_of(sorted, sorted.ndim() - 1), two = int64_constant(2);
  const Variable low = last_element(sorted, int_div(sub(n, int64_constant(1)), two)),
                 high = last_element(sorted, int_div(n, two));
  const DType dtype = is_float(x.dtype()) ? x.dtype() : DType::Float64;
  const DType wide = computing_dtype(dtype);
  const Variable mean = cast(mul(add(cast(low, wide), cast(high, wide)), cast(Operand(0.5), wide)), dtype);
  // The sum of two equal values may be infinite.
  const Variable middle = switch_(eq(mod(n, two), int64_constant(1)), cast(high, dtype), mean);
  const Variable out = nan_if_any(sorted, middle);
  return keepdims == KeepDims::Yes ? with_kept(out, axes) : out;
}

Variable quantile(const Operand& x, const Operand& q, const Axes& axis, KeepDims keepdims, QuantileMethod method) {
  const LocationScope here(x.where);
  const Variable part = checked_fractions(q, "quantile");
  std::vector<int> axes = axes_or_all("quantile", axis, x.ndim());
  const DType dtype = quantile_dtype(x, "quantile");
  const Variable sorted = sort(with_last(cast(x, dtype), axes));
  const Variable count = cast(length_of(sorted, sorted.ndim() - 1), DType::Float64);
  Variable out = between_neighbours(row_of(method), count, part, dtype,
                                    [&](const Variable& index) { return last_element(sorted, index); });
  if (q.ndim() == 0) {
    out = nan_if_any(sorted, out);
    return keepdims == KeepDims::Yes ? with_kept(out, axes) : out;
  }
  const Variable any_nan = expand_dims(isnan(last_element(sorted, int64_constant(-1))), -1);
  out = switch_(any_nan, cast(Operand(std::numeric_limits<double>::quiet_NaN()), dtype), out);
  out = with_quantiles_first(out);
  if (keepdims == KeepDims::No) return out;
  for (int& a : axes) ++a;
  return with_kept(out, axes);
}
Variable quantile(const Operand& x, const Operand& q, const Axes& axis, KeepDims keepdims) {
  return quantile(x, q, axis, keepdims, QuantileMethod::Linear);
}

Variable percentile(const Operand& x, const Operand& q, const Axes& axis, KeepDims keepdims, QuantileMethod method) {
  const LocationScope here(x.where);
  return quantile(x, hundredths(q), axis, keepdims, method);
}
Variable percentile(const Operand& x, const Operand& q, const Axes& axis, KeepDims keepdims) {
  return percentile(x, q, axis, keepdims, QuantileMethod::Linear);
}

Variable nanquantile(const Operand& x, const Operand& q, const Axes& axis, KeepDims keepdims, QuantileMethod method) {
  const LocationScope here(x.where);
  const DType dtype = quantile_dtype(x, "nanquantile");
  if (is_discrete(x.dtype())) return quantile(x, q, axis, keepdims, method);
  const Variable part = checked_fractions(q, "nanquantile");
  std::vector<int> axes = axes_or_all("nanquantile", axis, x.ndim());
  // nan comes last, so each row begins with its numbers.
  const Variable sorted = sort(with_last(x.variable, axes));
  const Variable count = cast(sum(invert(isnan(sorted)), {-1}, KeepDims::Yes), DType::Float64);
  const Variable parts = q.ndim() == 0 ? expand_dims(part, 0) : part;
  Variable out = with_quantiles_first(between_neighbours(
      row_of(method), count, parts, dtype, [&](const Variable& index) { return take_along_axis(sorted, index, -1); }));
  if (q.ndim() == 0) out = squeeze(out, {0});
  if (keepdims == KeepDims::No) return out;
  if (q.ndim() != 0)
    for (int& a : axes) ++a;
  return with_kept(out, axes);
}

Variable nanpercentile(const Operand& x, const Operand& q, const Axes& axis, KeepDims keepdims, QuantileMethod method) {
  const LocationScope here(x.where);
  return nanquantile(x, hundredths(q), axis, keepdims, method);
}

Variable nanmedian(const Operand& x, const Axes& axis, KeepDims keepdims) {
  return nanquantile(x, constant(Array(0.5)), axis, keepdims);
}

}  // namespace bitale
