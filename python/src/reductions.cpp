// Reductions and functions based on them, as functions and as methods.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/calculus.hpp"
#include "bitale/ops/cumulative.hpp"
#include "bitale/ops/statistics.hpp"
#include "define.hpp"
#include "flag.hpp"
#include "numpy_bridge.hpp"

namespace bitale::python {

namespace {

// Sums accumulate in 64 bits, so any acc_dtype is satisfied unless it would lose precision.
void check_accumulator(const Variable& x, nb::handle acc_dtype, const char* function) {
  const std::optional<DType> dtype = optional_dtype(acc_dtype);
  const bool is_float_of_integer = dtype && is_float(*dtype) && is_discrete(x.dtype());
  if (dtype && !is_float_of_integer && *dtype != x.dtype() && !can_cast_safely(x.dtype(), *dtype))
    throw TypeError(cat(function, ": acc_dtype: ", dtype_name(*dtype), " does not hold all values of ",
                        dtype_name(x.dtype()), ", the dtype of x"));
}

using Summing = Variable (*)(const Operand&, const Axes&, KeepDims, std::optional<DType>);
using Choosing = Variable (*)(const Operand&, const Axes&, KeepDims);
using Locating = Variable (*)(const Operand&, const Axes&, KeepDims);
using Spreading = Variable (*)(const Operand&, const Axes&, double, KeepDims);
using Normalizing = Variable (*)(const Operand&, const Axes&);

void bind_summing(nb::module_& m, const char* name, Summing function) {
  define_both_of(
      m, name, "input"_a,
      [function, name](const Like& x, const AxisLike& axis, const DTypeLike& dtype, Flag keepdims,
                       const DTypeLike& acc_dtype) {
        const Variable operand = as_variable(x);
        check_accumulator(operand, acc_dtype, name);
        return function(operand, as_axes(axis, name), keepdims, optional_dtype(dtype));
      },
      "axis"_a = nb::none(), "dtype"_a = nb::none(), "keepdims"_a = false, "acc_dtype"_a = nb::none());
}

void bind_choosing(nb::module_& m, const char* name, Choosing function) {
  define_both(
      m, name,
      [function, name](const Like& x, const AxisLike& axis, Flag keepdims) {
        return function(as_variable(x), as_axes(axis, name), keepdims);
      },
      "axis"_a = nb::none(), "keepdims"_a = false);
}

void bind_locating(nb::module_& m, const char* name, Locating function) {
  define_both(
      m, name,
      [function, name](const Like& x, const AxisLike& axis, Flag keepdims) {
        return function(as_variable(x), as_axes(axis, name), keepdims);
      },
      "axis"_a = nb::none(), "keepdims"_a = false);
}

using Cumulating = Variable (*)(const Operand&, std::optional<int>);

void bind_cumulating(nb::module_& m, const char* name, Cumulating function) {
  define_both(
      m, name,
      [function, name](const Like& x, const AxisLike& axis, const DTypeLike& dtype) {
        Variable operand = as_variable(x);
        const std::optional<DType> element = optional_dtype(dtype);
        if (element) operand = cast(operand, *element);
        const Variable result = function(operand, as_optional_int(axis, cat(name, ": axis")));
        return element ? cast(result, *element) : result;
      },
      "axis"_a = nb::none(), "dtype"_a = nb::none());
}

void bind_spreading(nb::module_& m, const char* name, Spreading function) {
  define_both_of(
      m, name, "input"_a,
      [function, name](const Like& x, const AxisLike& axis, std::optional<double> ddof, Flag keepdims, Flag corrected,
                       std::optional<double> correction) {
        if (ddof && correction) throw ValueError(cat(name, ": ddof and correction mean the same, and both are given"));
        Variable operand = as_variable(x);
        const Axes axes = as_axes(axis, name);
        // The mean of the centered elements is the rounding error of what would be 0.
        if (corrected) operand = sub(operand, mean(operand, axes, KeepDims::Yes));
        return function(operand, axes, ddof ? *ddof : correction.value_or(0.0), keepdims);
      },
      "axis"_a = nb::none(), "ddof"_a = nb::none(), "keepdims"_a = false, "corrected"_a = false,
      "correction"_a = nb::none());
}

void bind_normalizing(nb::module_& m, const char* name, Normalizing function) {
  define(
      m, name,
      [function, name](const Like& x, const AxisLike& axis) { return function(as_variable(x), as_axes(axis, name)); },
      "c"_a, "axis"_a = nb::none());
}

using ChoosingFrom = Variable (*)(const Operand&, const Axes&, KeepDims, const Operand&);

void bind_extremum(nb::module_& m, const char* name, Choosing function, ChoosingFrom with_initial) {
  define_both(
      m, name,
      [function, with_initial, name](const Like& x, const AxisLike& axis, Flag keepdims, const Any& initial) {
        const Axes axes = as_axes(axis, name);
        if (initial.is_none()) return function(as_variable(x), axes, keepdims);
        return with_initial(as_variable(x), axes, keepdims, as_variable(initial));
      },
      "axis"_a = nb::none(), "keepdims"_a = false, "initial"_a = nb::none());
}

}  // namespace

void bind_reductions(nb::module_& m) {
  bind_summing(m, "sum", sum);
  bind_summing(m, "prod", prod);
  bind_extremum(m, "max", max, max);
  bind_extremum(m, "min", min, min);
  bind_choosing(m, "all", all);
  bind_choosing(m, "any", any);
  define_both_of(
      m, "mean", "input"_a,
      [](const Like& x, const AxisLike& axis, const DTypeLike& dtype, Flag keepdims, const DTypeLike& acc_dtype) {
        const Variable operand = as_variable(x);
        check_accumulator(operand, acc_dtype, "mean");
        return mean(operand, as_axes(axis, "mean"), keepdims, optional_dtype(dtype));
      },
      "axis"_a = nb::none(), "dtype"_a = nb::none(), "keepdims"_a = false, "acc_dtype"_a = nb::none());
  bind_spreading(m, "var", var);
  bind_spreading(m, "std", std_);
  bind_locating(m, "argmax", argmax);
  bind_locating(m, "argmin", argmin);
  bind_cumulating(m, "cumsum", cumsum);
  bind_cumulating(m, "cumprod", cumprod);
  define_method(
      m, "norm",
      [](const Like& x, const Any& L, const AxisLike& axis, Flag keepdims) {
        return power_norm(as_variable(x), as_variable(L), as_axes(axis, "norm"), keepdims);
      },
      "L"_a, "axis"_a = nb::none(), "keepdims"_a = false,
      "Return the norm of order L over the axes (all by default): the L-th root of the sum of the L-th powers of "
      "absolute values.\n\n"
      "For L = 0, the number of elements that are not 0; for an infinite L, the largest (or, negative, the smallest) "
      "absolute value.");
  define(
      m, "diff",
      [](const Like& x, int n, int axis, const Any& prepend, const Any& append) {
        return diff(
            as_variable(x),
            DiffOptions{
                .n = n, .axis = axis, .prepend = optional_operand(prepend), .append = optional_operand(append)});
      },
      "x"_a, "n"_a = 1, "axis"_a = -1, "prepend"_a = nb::none(), "append"_a = nb::none());
  define(
      m, "logsumexp",
      [](const Like& x, const AxisLike& axis, Flag keepdims) {
        return logsumexp(as_variable(x), as_axes(axis, "logsumexp"), keepdims);
      },
      "x"_a, "axis"_a = nb::none(), "keepdims"_a = false);
  bind_normalizing(m, "softmax", softmax);
  bind_normalizing(m, "log_softmax", log_softmax);
}

}  // namespace bitale::python
