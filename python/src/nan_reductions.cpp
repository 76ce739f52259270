// Reductions that leave nan out, counts, and cumulative sums with a start.
#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "arguments.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/quantile.hpp"
#include "bitale/ops/reductions.hpp"
#include "define.hpp"
#include "flag.hpp"
#include "numpy_bridge.hpp"
#include "numpy_functions.hpp"

namespace bitale::python {

namespace {

using Summing = Variable (*)(const Operand&, const Axes&, KeepDims, std::optional<DType>);
void bind_with_dtype(nb::module_& m, const char* name, Summing function, const char* example) {
  define(
      m, name,
      [function, name](const Like& a, const AxisLike& axis, const DTypeLike& dtype, Flag keepdims) {
        return function(as_variable(a), as_axes(axis, name), keepdims, optional_dtype(dtype));
      },
      "a"_a, "axis"_a.none() = nb::none(), "dtype"_a = nb::none(), "keepdims"_a = false, example);
}

using Choosing = Variable (*)(const Operand&, const Axes&, KeepDims);
void bind_choosing(nb::module_& m, const char* name, Choosing function, const char* example) {
  define(
      m, name,
      [function, name](const Like& a, const AxisLike& axis, Flag keepdims) {
        return function(as_variable(a), as_axes(axis, name), keepdims);
      },
      "a"_a, "axis"_a.none() = nb::none(), "keepdims"_a = false, example);
}

using Spreading = Variable (*)(const Operand&, const Axes&, int, KeepDims);
void bind_spreading(nb::module_& m, const char* name, Spreading function, const char* example) {
  define(
      m, name,
      [function, name](const Like& a, const AxisLike& axis, int ddof, Flag keepdims) {
        return function(as_variable(a), as_axes(axis, name), ddof, keepdims);
      },
      "a"_a, "axis"_a.none() = nb::none(), "ddof"_a = 0, "keepdims"_a = false, example);
}

using Locating = Variable (*)(const Operand&, std::optional<int>, KeepDims);
void bind_locating(nb::module_& m, const char* name, Locating function, const char* example) {
  define(
      m, name,
      [function, name](const Like& a, const AxisLike& axis, Flag keepdims) {
        return function(as_variable(a), as_optional_int(axis, cat(name, ": axis")), keepdims);
      },
      "a"_a, "axis"_a.none() = nb::none(), "keepdims"_a = false, example);
}

using CumulativeFunction = Variable (*)(const Operand&, std::optional<int>);
void bind_cumulative(nb::module_& m, const char* name, CumulativeFunction function, const char* example) {
  define(
      m, name,
      [function, name](const Like& a, const AxisLike& axis) {
        return function(as_variable(a), as_optional_int(axis, cat(name, ": axis")));
      },
      "a"_a, "axis"_a.none() = nb::none(), example);
}

using Cumulating = Variable (*)(const Operand&, const CumulativeOptions&);
void bind_cumulating(nb::module_& m, const char* name, Cumulating function, const char* example) {
  define(
      m, name,
      [function, name](const Like& x, const AxisLike& axis, const DTypeLike& dtype, Flag include_initial) {
        return function(as_variable(x), {.axis = as_optional_int(axis, cat(name, ": axis")),
                                         .dtype = optional_dtype(dtype),
                                         .include_initial = include_initial});
      },
      "x"_a, nb::kw_only(), "axis"_a.none() = nb::none(), "dtype"_a = nb::none(), "include_initial"_a = false, example);
}

using Quantile = Variable (*)(const Operand&, const Operand&, const Axes&, KeepDims, QuantileMethod);
void bind_quantile(nb::module_& m, const char* name, Quantile function, const char* example) {
  define(
      m, name,
      [function, name](const Like& a, const Like& q, const AxisLike& axis, Flag keepdims, const char* method) {
        return function(as_variable(a), as_variable(q), as_axes(axis, name), keepdims, quantile_method(method));
      },
      "a"_a, "q"_a, "axis"_a.none() = nb::none(), "keepdims"_a = false, nb::kw_only(), "method"_a = "linear", example);
}

}  // namespace

void bind_nan_reductions(nb::module_& m) {
  bind_with_dtype(m, "nansum", nansum, ">>> pt.nansum([1.0, np.nan, 3.0]).eval()\narray(4.)");
  bind_with_dtype(m, "nanprod", nanprod, ">>> pt.nanprod([2.0, np.nan, 3.0]).eval()\narray(6.)");
  bind_with_dtype(m, "nanmean", nanmean, ">>> pt.nanmean([1.0, np.nan, 3.0]).eval()\narray(2.)");
  bind_choosing(m, "nanmax", nanmax, ">>> pt.nanmax([1.0, np.nan, 3.0]).eval()\narray(3.)");
  bind_choosing(m, "nanmin", nanmin, ">>> pt.nanmin([1.0, np.nan, 3.0]).eval()\narray(1.)");
  bind_choosing(m, "nanmedian", nanmedian, ">>> pt.nanmedian([1.0, np.nan, 3.0, 7.0]).eval()\narray(3.)");
  bind_choosing(m, "count_nonzero", count_nonzero, ">>> pt.count_nonzero([1.0, 0.0, 3.0]).eval()\narray(2)");
  bind_spreading(m, "nanvar", nanvar, ">>> pt.nanvar([1.0, np.nan, 3.0]).eval()\narray(1.)");
  bind_spreading(m, "nanstd", nanstd, ">>> pt.nanstd([1.0, np.nan, 3.0]).eval()\narray(1.)");
  bind_locating(m, "nanargmax", nanargmax, ">>> pt.nanargmax([1.0, np.nan, 3.0]).eval()\narray(2)");
  bind_locating(m, "nanargmin", nanargmin, ">>> pt.nanargmin([1.0, np.nan, 3.0]).eval()\narray(0)");
  bind_cumulative(m, "nancumsum", nancumsum, ">>> pt.nancumsum([1.0, np.nan, 3.0]).eval()\narray([1., 1., 4.])");
  bind_cumulative(m, "nancumprod", nancumprod, ">>> pt.nancumprod([2.0, np.nan, 3.0]).eval()\narray([2., 2., 6.])");
  bind_cumulating(m, "cumulative_sum", cumulative_sum,
                  ">>> pt.cumulative_sum([1.0, 2.0], include_initial=True).eval()\narray([0., 1., 3.])");
  bind_cumulating(m, "cumulative_prod", cumulative_prod,
                  ">>> pt.cumulative_prod([2.0, 3.0], include_initial=True).eval()\narray([1., 2., 6.])");
  bind_quantile(m, "nanquantile", nanquantile, ">>> pt.nanquantile([1.0, np.nan, 3.0], 0.5).eval()\narray(2.)");
  bind_quantile(m, "nanpercentile", nanpercentile, ">>> pt.nanpercentile([1.0, np.nan, 3.0], 50).eval()\narray(2.)");
}

}  // namespace bitale::python
