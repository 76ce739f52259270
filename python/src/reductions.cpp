// Reductions and what is built on them, as functions and as methods.
#include <nanobind/nanobind.h>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ordered.hpp"
#include "define.hpp"
#include "numpy_bridge.hpp"

namespace bitale::python {

namespace {

void refuse_accumulator(nb::handle acc_dtype, const char* function) {
  if (!acc_dtype.is_none())
    throw NotImplementedError(cat(function, ": acc_dtype; convert the input with astype instead"));
}

using Summing = Variable (*)(const Operand&, const Axes&, bool, std::optional<DType>);
using Choosing = Variable (*)(const Operand&, const Axes&, bool);
using Locating = Variable (*)(const Operand&, std::optional<int>, bool);
using Spreading = Variable (*)(const Operand&, const Axes&, int, bool);
using Normalizing = Variable (*)(const Operand&, const Axes&);

void bind_summing(nb::module_& m, const char* name, Summing function, const char* doc) {
  define_both(
      m, name,
      [function, name](const Like& x, const AxisLike& axis, const DTypeLike& dtype, bool keepdims,
                       const DTypeLike& acc_dtype) {
        refuse_accumulator(acc_dtype, name);
        return function(as_variable(x), as_axes(axis, name), keepdims, optional_dtype(dtype));
      },
      "axis"_a = nb::none(), "dtype"_a = nb::none(), "keepdims"_a = false, "acc_dtype"_a = nb::none(), doc);
}

void bind_choosing(nb::module_& m, const char* name, Choosing function, const char* doc) {
  define_both(
      m, name,
      [function, name](const Like& x, const AxisLike& axis, bool keepdims) {
        return function(as_variable(x), as_axes(axis, name), keepdims);
      },
      "axis"_a = nb::none(), "keepdims"_a = false, doc);
}

void bind_locating(nb::module_& m, const char* name, Locating function, const char* doc) {
  define_both(
      m, name,
      [function, name](const Like& x, const AxisLike& axis, bool keepdims) {
        Axes axes = as_axes(axis, name);
        if (axes && axes->size() != 1) throw NotImplementedError(cat(name, " over several axes, but not all"));
        return function(as_variable(x), axes ? std::optional<int>(axes->front()) : std::nullopt, keepdims);
      },
      "axis"_a = nb::none(), "keepdims"_a = false, doc);
}

using Cumulating = Variable (*)(const Operand&, std::optional<int>);

void bind_cumulating(nb::module_& m, const char* name, Cumulating function, const char* doc) {
  define_both(
      m, name,
      [function, name](const Like& x, const AxisLike& axis) {
        return function(as_variable(x), as_optional_int(axis, cat(name, ": axis")));
      },
      "axis"_a = nb::none(), doc);
}

void bind_spreading(nb::module_& m, const char* name, Spreading function, const char* doc) {
  define_both(
      m, name,
      [function, name](const Like& x, const AxisLike& axis, int ddof, bool keepdims, bool corrected) {
        if (corrected) throw NotImplementedError(cat(name, ": corrected=True"));
        return function(as_variable(x), as_axes(axis, name), ddof, keepdims);
      },
      "axis"_a = nb::none(), "ddof"_a = 0, "keepdims"_a = false, "corrected"_a = false, doc);
}

void bind_normalizing(nb::module_& m, const char* name, Normalizing function, const char* doc) {
  define(
      m, name,
      [function, name](const Like& x, const AxisLike& axis) { return function(as_variable(x), as_axes(axis, name)); },
      "x"_a, "axis"_a = nb::none(), doc);
}

}  // namespace

void bind_reductions(nb::module_& m) {
  bind_summing(m, "sum", sum, "Sum over the axes (all by default).");
  bind_summing(m, "prod", prod, "Product over the axes (all by default).");
  bind_choosing(m, "max", max, "Largest element over the axes (all by default).");
  bind_choosing(m, "min", min, "Smallest element over the axes (all by default).");
  bind_choosing(m, "all", all, "Whether all elements over the axes (all by default) are true.");
  bind_choosing(m, "any", any, "Whether any element over the axes (all by default) is true.");
  define_both(
      m, "mean",
      [](const Like& x, const AxisLike& axis, const DTypeLike& dtype, bool keepdims, const DTypeLike& acc_dtype) {
        refuse_accumulator(acc_dtype, "mean");
        Variable operand = as_variable(x);
        if (auto element = optional_dtype(dtype)) {
          if (is_discrete(*element)) throw TypeError(cat("mean: dtype must be a float, got ", dtype_name(*element)));
          operand = cast(operand, *element);
        }
        return mean(operand, as_axes(axis, "mean"), keepdims);
      },
      "axis"_a = nb::none(), "dtype"_a = nb::none(), "keepdims"_a = false, "acc_dtype"_a = nb::none(),
      "Mean over the axes (all by default).");
  bind_spreading(m, "var", var,
                 "Variance over the axes (all by default), divided by the number of elements less ddof.");
  bind_spreading(m, "std", std_, "Standard deviation over the axes (all by default), with var's ddof.");
  bind_locating(m, "argmax", argmax,
                "Index of the first largest element along the axis; of the flattened x when axis is None.");
  bind_locating(m, "argmin", argmin,
                "Index of the first smallest element along the axis; of the flattened x when axis is None.");
  bind_cumulating(m, "cumsum", cumsum,
                  "Sums of all elements up to and including each along the axis; of the flattened x when axis is None. "
                  "Integers and bool give int64 or uint64.");
  bind_cumulating(
      m, "cumprod", cumprod,
      "Products of all elements up to and including each along the axis; of the flattened x when axis is None. "
      "Integers and bool give int64 or uint64.");
  define(
      m, "diff", [](const Like& x, int n, int axis) { return diff(as_variable(x), n, axis); }, "x"_a, "n"_a = 1,
      "axis"_a = -1, "n times the differences of neighbours along the axis (of bool: whether they differ).");
  define(
      m, "logsumexp",
      [](const Like& x, const AxisLike& axis, bool keepdims) {
        return logsumexp(as_variable(x), as_axes(axis, "logsumexp"), keepdims);
      },
      "x"_a, "axis"_a = nb::none(), "keepdims"_a = false,
      "log(sum(exp(x))) over the axes (all by default), without overflow.");
  bind_normalizing(m, "softmax", softmax, "exp(x) / sum(exp(x)) over the axes (all by default), without overflow.");
  bind_normalizing(m, "log_softmax", log_softmax,
                   "log(softmax(x)) over the axes (all by default), without loss for small ones.");
}

}  // namespace bitale::python
