// Reductions that leave nan out, counts, and running sums with a start.
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

// The parts of a docstring that all these functions share.
std::string documented_reduction(const char* summary, const char* more_parameters, const char* returns,
                                 const char* example) {
  return cat(summary, R"(

Parameters
----------
a : tensor_like
    Elements that are nan don't count.
axis : int, sequence of int, or None
    Over which dimensions; all by default.
)",
             more_parameters, R"(keepdims : bool
    Whether these dimensions are kept, with length 1.

Returns
-------
TensorVariable
    )",
             returns, "\n\nExamples\n--------\n", example);
}

std::string documented_quantile(const char* summary, const char* q, const char* example) {
  return cat(summary, R"(

Parameters
----------
a : tensor_like
    Elements that are nan don't count.
q : tensor_like
    )",
             q, R"(: a scalar, or a vector, which becomes the first dimension.
axis : int, sequence of int, or None
    Over which dimensions; all by default.
keepdims : bool
    Whether these dimensions are kept, with length 1.
method : str
    As of quantile.

Returns
-------
TensorVariable
    Quantiles; nan where all elements are nan.

Examples
--------
)",
             example);
}

constexpr const char* dtype_parameter = "dtype : dtype\n    In which the elements are added or multiplied.\n";

using Summing = Variable (*)(const Operand&, const Axes&, bool, std::optional<DType>);
void bind_with_dtype(nb::module_& m, const char* name, Summing function, const std::string& doc) {
  define(
      m, name,
      [function, name](const Like& a, const AxisLike& axis, const DTypeLike& dtype, Flag keepdims) {
        return function(as_variable(a), as_axes(axis, name), keepdims, optional_dtype(dtype));
      },
      "a"_a, "axis"_a.none() = nb::none(), "dtype"_a = nb::none(), "keepdims"_a = false, doc);
}

using Choosing = Variable (*)(const Operand&, const Axes&, bool);
void bind_choosing(nb::module_& m, const char* name, Choosing function, const std::string& doc) {
  define(
      m, name,
      [function, name](const Like& a, const AxisLike& axis, Flag keepdims) {
        return function(as_variable(a), as_axes(axis, name), keepdims);
      },
      "a"_a, "axis"_a.none() = nb::none(), "keepdims"_a = false, doc);
}

using Spreading = Variable (*)(const Operand&, const Axes&, int, bool);
void bind_spreading(nb::module_& m, const char* name, Spreading function, const std::string& doc) {
  define(
      m, name,
      [function, name](const Like& a, const AxisLike& axis, int ddof, Flag keepdims) {
        return function(as_variable(a), as_axes(axis, name), ddof, keepdims);
      },
      "a"_a, "axis"_a.none() = nb::none(), "ddof"_a = 0, "keepdims"_a = false, doc);
}

using Locating = Variable (*)(const Operand&, std::optional<int>, bool);
void bind_locating(nb::module_& m, const char* name, Locating function, const std::string& doc) {
  define(
      m, name,
      [function, name](const Like& a, const AxisLike& axis, Flag keepdims) {
        return function(as_variable(a), as_optional_int(axis, cat(name, ": axis")), keepdims);
      },
      "a"_a, "axis"_a.none() = nb::none(), "keepdims"_a = false, doc);
}

using Running = Variable (*)(const Operand&, std::optional<int>);
void bind_running(nb::module_& m, const char* name, Running function, const char* what, const char* example) {
  define(
      m, name,
      [function, name](const Like& a, const AxisLike& axis) {
        return function(as_variable(a), as_optional_int(axis, cat(name, ": axis")));
      },
      "a"_a, "axis"_a.none() = nb::none(),
      cat("Running ", what, R"( in which nan does not count.

Parameters
----------
a : tensor_like
    Numbers.
axis : int or None
    Along which dimension; None: of the flattened a.

Returns
-------
TensorVariable
    In the shape of a, or a vector.

Examples
--------
)",
          example));
}

using Cumulating = Variable (*)(const Operand&, const CumulativeOptions&);
void bind_cumulating(nb::module_& m, const char* name, Cumulating function, const char* what, const char* start,
                     const char* example) {
  define(
      m, name,
      [function, name](const Like& x, const AxisLike& axis, const DTypeLike& dtype, Flag include_initial) {
        return function(as_variable(x), {.axis = as_optional_int(axis, cat(name, ": axis")),
                                         .dtype = optional_dtype(dtype),
                                         .include_initial = include_initial});
      },
      "x"_a, nb::kw_only(), "axis"_a.none() = nb::none(), "dtype"_a = nb::none(), "include_initial"_a = false,
      cat("Running ", what, R"( along an axis, as the array-API standard defines them.

Parameters
----------
x : tensor_like
    Numbers.
axis : int
    ValueError when it is left out for a tensor that is no vector.
dtype : dtype
    Of the elements and of the result.
include_initial : bool
    Whether the result begins with )",
          start, R"(, and so has an element more.

Returns
-------
TensorVariable
    Integers give int64 or uint64, unless a dtype is given.

Examples
--------
)",
          example));
}

using Quantile = Variable (*)(const Operand&, const Operand&, const Axes&, bool, QuantileMethod);
void bind_quantile(nb::module_& m, const char* name, Quantile function, const std::string& doc) {
  define(
      m, name,
      [function, name](const Like& a, const Like& q, const AxisLike& axis, Flag keepdims, const char* method) {
        return function(as_variable(a), as_variable(q), as_axes(axis, name), keepdims, quantile_method(method));
      },
      "a"_a, "q"_a, "axis"_a.none() = nb::none(), "keepdims"_a = false, nb::kw_only(), "method"_a = "linear", doc);
}

}  // namespace

void bind_nan_reductions(nb::module_& m) {
  bind_with_dtype(
      m, "nansum", nansum,
      documented_reduction("The sum of the elements that are not nan.", dtype_parameter,
                           "0 where all elements are nan.", ">>> pt.nansum([1.0, np.nan, 3.0]).eval()\narray(4.)"));
  bind_with_dtype(
      m, "nanprod", nanprod,
      documented_reduction("The product of the elements that are not nan.", dtype_parameter,
                           "1 where all elements are nan.", ">>> pt.nanprod([2.0, np.nan, 3.0]).eval()\narray(6.)"));
  bind_with_dtype(
      m, "nanmean", nanmean,
      documented_reduction("The mean of the elements that are not nan.", dtype_parameter,
                           "nan where all elements are nan.", ">>> pt.nanmean([1.0, np.nan, 3.0]).eval()\narray(2.)"));
  bind_choosing(m, "nanmax", nanmax,
                documented_reduction("The largest element that is not nan.", "", "nan where all elements are nan.",
                                     ">>> pt.nanmax([1.0, np.nan, 3.0]).eval()\narray(3.)"));
  bind_choosing(m, "nanmin", nanmin,
                documented_reduction("The smallest element that is not nan.", "", "nan where all elements are nan.",
                                     ">>> pt.nanmin([1.0, np.nan, 3.0]).eval()\narray(1.)"));
  bind_choosing(
      m, "nanmedian", nanmedian,
      documented_reduction("The median of the elements that are not nan.", "", "nan where all elements are nan.",
                           ">>> pt.nanmedian([1.0, np.nan, 3.0, 7.0]).eval()\narray(3.)"));
  bind_choosing(m, "count_nonzero", count_nonzero,
                documented_reduction("How many elements are not 0; nan is not.", "", "int64.",
                                     ">>> pt.count_nonzero([1.0, 0.0, 3.0]).eval()\narray(2)"));
  constexpr const char* ddof = "ddof : int\n    What is subtracted from the number of elements, by which is divided.\n";
  bind_spreading(m, "nanvar", nanvar,
                 documented_reduction("The variance of the elements that are not nan.", ddof,
                                      "nan where no more than ddof elements are not nan.",
                                      ">>> pt.nanvar([1.0, np.nan, 3.0]).eval()\narray(1.)"));
  bind_spreading(m, "nanstd", nanstd,
                 documented_reduction("The standard deviation of the elements that are not nan.", ddof,
                                      "nan where no more than ddof elements are not nan.",
                                      ">>> pt.nanstd([1.0, np.nan, 3.0]).eval()\narray(1.)"));
  constexpr const char* position = "int64. ValueError when a call finds that all elements are nan.";
  bind_locating(m, "nanargmax", nanargmax,
                documented_reduction("The position of the largest element that is not nan, along one dimension.", "",
                                     position, ">>> pt.nanargmax([1.0, np.nan, 3.0]).eval()\narray(2)"));
  bind_locating(m, "nanargmin", nanargmin,
                documented_reduction("The position of the smallest element that is not nan, along one dimension.", "",
                                     position, ">>> pt.nanargmin([1.0, np.nan, 3.0]).eval()\narray(0)"));
  bind_running(m, "nancumsum", nancumsum, "sums", ">>> pt.nancumsum([1.0, np.nan, 3.0]).eval()\narray([1., 1., 4.])");
  bind_running(m, "nancumprod", nancumprod, "products",
               ">>> pt.nancumprod([2.0, np.nan, 3.0]).eval()\narray([2., 2., 6.])");
  bind_cumulating(m, "cumulative_sum", cumulative_sum, "sums", "0",
                  ">>> pt.cumulative_sum([1.0, 2.0], include_initial=True).eval()\narray([0., 1., 3.])");
  bind_cumulating(m, "cumulative_prod", cumulative_prod, "products", "1",
                  ">>> pt.cumulative_prod([2.0, 3.0], include_initial=True).eval()\narray([1., 2., 6.])");
  bind_quantile(m, "nanquantile", nanquantile,
                documented_quantile("The value below which the fraction q of the elements lies that are not nan.",
                                    "The fraction of elements below, in [0, 1]",
                                    ">>> pt.nanquantile([1.0, np.nan, 3.0], 0.5).eval()\narray(2.)"));
  bind_quantile(m, "nanpercentile", nanpercentile,
                documented_quantile("The value below which q hundredths of the elements lie that are not nan.",
                                    "The percentage of elements below, in [0, 100]",
                                    ">>> pt.nanpercentile([1.0, np.nan, 3.0], 50).eval()\narray(2.)"));
}

}  // namespace bitale::python
