// Statistics, composed of reductions and elementwise functions. A maximum that is subtracted only to avoid overflow is
// treated as a constant by differentiation: it cancels, so that derivatives of every order are right and simple.
#include <algorithm>

#include "bitale/core/text.hpp"
#include "bitale/ops/complex.hpp"
#include "bitale/ops/cumulative.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/statistics.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/reductions/reduce.hpp"

namespace bitale {

namespace {

// The number of elements that a reduction over `axes` combines, in the float dtype of its result.
Variable count_of(const Variable& x, std::span<const int> axes, DType dtype) {
  std::int64_t known = 1;
  Variable unknown;
  for (int axis : axes) {
    const std::int64_t length = x.static_shape()[std::size_t(axis)];
    if (length != unknown_length)
      known *= length;
    else
      unknown = unknown.defined() ? mul(unknown, shape_i(x, axis)) : shape_i(x, axis);
  }
  const Variable factor = constant(Array(known));
  if (!unknown.defined()) return cast(factor, dtype);
  return cast(known == 1 ? unknown : mul(unknown, factor), dtype);
}

// x extended by one along each reduced axis. All added elements are `initial`; their number does not change an extreme.
Variable with_initial(const Variable& x, std::span<const int> axes, const Variable& initial, std::string_view name) {
  if (initial.ndim() != 0)
    throw ValueError(
        cat(name, ": initial: expected a scalar, got ", initial.str(), " with ", initial.ndim(), " dimensions"));
  const auto known = initial.constant();
  const auto as_float64 = [](const Array& value) { return value.astype(DType::Float64); };
  const bool is_held = !known                ? can_cast_safely(initial.dtype(), x.dtype())
                       : is_float(x.dtype()) ? true
                                             : identical(as_float64(known->astype(x.dtype())), as_float64(*known));
  if (!is_held)
    throw TypeError(cat(name, ": initial: ", dtype_name(x.dtype()), ", the dtype of x, does not hold ",
                        known ? known->str() : cat("all values of ", dtype_name(initial.dtype()))));
  const Variable element = cast(initial, x.dtype());
  if (x.ndim() == 0) return stack({x, element});
  Variable out = x;
  for (const int axis : axes) {
    Variables lengths;
    for (int k = 0; k < x.ndim(); ++k)
      lengths.push_back(k == axis ? constant(Array(std::int64_t(1))) : shape_i(out, k));
    out = concatenate({out, alloc(element, lengths)}, axis);
  }
  return out;
}

// The sum of x's elements, in `dtype`, divided by their number less `ddof`. Integers are added as float64, since their
// sum may overflow.
Variable averaged(const Variable& x, std::span<const int> axes, double ddof, KeepDims keepdims,
                  std::optional<DType> dtype = {}) {
  if (!dtype) dtype = is_discrete(x.dtype()) ? DType::Float64 : x.dtype();
  const Variable total = sum(x, std::vector<int>(axes.begin(), axes.end()), keepdims, dtype);
  const DType quotient = is_discrete(*dtype) ? DType::Float64 : *dtype;
  const Variable count = count_of(x, axes, component_dtype(quotient));
  if (ddof == 0) return true_div(cast(total, quotient), count);
  const bool is_whole = ddof == double(int(ddof));
  const Variable freedom = count - (is_whole ? Operand(int(ddof)) : Operand(cast(ddof, count.dtype())));
  // As NumPy: no negative variance of fewer elements than ddof.
  return true_div(cast(total, quotient), maximum(freedom, cast(0, count.dtype())));
}

// Sums and squares of float16 soon exceed its range, so its statistics are computed in float32 and rounded once.
template <class Statistic>
Variable in_sufficient_range(const Variable& x, const Statistic& statistic) {
  const DType dtype = x.dtype(), wide = computing_dtype(dtype);
  return wide == dtype ? statistic(x) : cast(statistic(cast(x, wide)), dtype);
}

Variable variance(const Variable& x, std::span<const int> axes, double ddof, KeepDims keepdims) {
  const Variable distance = sub(x, averaged(x, axes, 0, KeepDims::Yes));
  const Variable squares = is_complex(x.dtype()) ? add(sqr(real(distance)), sqr(imag(distance))) : sqr(distance);
  return averaged(squares, axes, ddof, keepdims);
}

// The largest element along `axes`, kept as dimensions of length 1, as a constant of differentiation; -inf where there
// is none, as the sum of exponentials of nothing is 0.
Variable held_maximum(const Variable& x, const std::vector<int>& axes) {
  const auto lengths = x.static_shape();
  const bool has_elements =
      std::all_of(axes.begin(), axes.end(), [&](int axis) { return lengths[std::size_t(axis)] > 0; });
  return disconnected_grad(has_elements ? max(x, axes, KeepDims::Yes) : supremum(x, axes));
}

}  // namespace

Variable max(const Operand& x, const Axes& axis, KeepDims keepdims, const Operand& initial) {
  const LocationScope here(x.where);
  const std::vector<int> axes = axes_or_all("max", axis, x.ndim());
  const Variable all = with_initial(x.variable, axes, initial.variable, "max");
  return x.ndim() == 0 ? max(all) : max(all, axes, keepdims);
}
Variable min(const Operand& x, const Axes& axis, KeepDims keepdims, const Operand& initial) {
  const LocationScope here(x.where);
  const std::vector<int> axes = axes_or_all("min", axis, x.ndim());
  const Variable all = with_initial(x.variable, axes, initial.variable, "min");
  return x.ndim() == 0 ? min(all) : min(all, axes, keepdims);
}
Variable mean(const Operand& x, const Axes& axis, KeepDims keepdims, std::optional<DType> dtype) {
  const LocationScope here(x.where);
  const std::vector<int> axes = axes_or_all("mean", axis, x.ndim());
  if (dtype) return averaged(x.variable, axes, 0, keepdims, dtype);
  return in_sufficient_range(x.variable, [&](const Variable& value) { return averaged(value, axes, 0, keepdims); });
}

Variable var(const Operand& x, const Axes& axis, int ddof, KeepDims keepdims) {
  return var(x, axis, double(ddof), keepdims);
}

Variable var(const Operand& x, const Axes& axis, double ddof, KeepDims keepdims) {
  const LocationScope here(x.where);
  const std::vector<int> axes = axes_or_all("var", axis, x.ndim());
  return in_sufficient_range(x.variable, [&](const Variable& value) { return variance(value, axes, ddof, keepdims); });
}

Variable std_(const Operand& x, const Axes& axis, int ddof, KeepDims keepdims) {
  return std_(x, axis, double(ddof), keepdims);
}

Variable std_(const Operand& x, const Axes& axis, double ddof, KeepDims keepdims) {
  const LocationScope here(x.where);
  const std::vector<int> axes = axes_or_all("std", axis, x.ndim());
  return in_sufficient_range(x.variable,
                             [&](const Variable& value) { return sqrt(variance(value, axes, ddof, keepdims)); });
}

Variable logsumexp(const Operand& x, const Axes& axis, KeepDims keepdims) {
  const LocationScope here(x.where);
  const std::vector<int> axes = axes_or_all("logsumexp", axis, x.ndim());
  return in_sufficient_range(as_float(x.variable), [&](const Variable& value) {
    const Variable high = held_maximum(is_complex(value) ? real(value) : value, axes);
    // Differences of infinite elements are not defined; without a shift they give the right result.
    const Variable shift = switch_(isinf(high), 0, high);
    const Variable total = log(sum(exp(value - shift), axes, KeepDims::Yes)) + shift;
    if (keepdims == KeepDims::Yes || axes.empty()) return total;
    std::vector<int> kept;
    for (int i = 0; i < value.ndim(); ++i)
      if (std::find(axes.begin(), axes.end(), i) == axes.end()) kept.push_back(i);
    return dimshuffle(total, kept);
  });
}

Variable softmax(const Operand& x, const Axes& axis) {
  const LocationScope here(x.where);
  const std::vector<int> axes = axes_or_all("softmax", axis, x.ndim());
  return in_sufficient_range(as_float(x.variable), [&](const Variable& value) {
    const Variable powers = exp(value - held_maximum(value, axes));
    return powers / sum(powers, axes, KeepDims::Yes);
  });
}

Variable log_softmax(const Operand& x, const Axes& axis) {
  const LocationScope here(x.where);
  const std::vector<int> axes = axes_or_all("log_softmax", axis, x.ndim());
  return in_sufficient_range(as_float(x.variable), [&](const Variable& value) {
    const Variable shifted = value - held_maximum(value, axes);
    return shifted - log(sum(exp(shifted), axes, KeepDims::Yes));
  });
}

}  // namespace bitale
