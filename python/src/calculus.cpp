// Functions of samples: integrals, derivatives, polynomials, histograms, and cross products.
#include "bitale/ops/calculus.hpp"

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/histogram.hpp"
#include "bitale/ops/statistics.hpp"
#include "define.hpp"
#include "flag.hpp"
#include "instance.hpp"
#include "numpy_bridge.hpp"
#include "numpy_functions.hpp"
#include "variable_lists.hpp"

namespace bitale::python {

namespace {

void bind_samples(nb::module_& m) {
  define(
      m, "trapezoid",
      [](const Like& y, const Any& x, const Like& dx, int axis) {
        return trapezoid(as_variable(y), optional_operand(x), as_variable(dx), axis);
      },
      "y"_a, "x"_a = nb::none(), "dx"_a = 1.0, "axis"_a = -1,
      R"(The integral of samples along an axis, by trapezoids.

Parameters
----------
y : tensor_like
    Samples.
x : tensor_like or None
    The points to which they belong: a vector, or a tensor that broadcasts with y.
dx : tensor_like
    The distance of points, where x is None.
axis : int
    Along which dimension.

Returns
-------
TensorVariable
    Floats, without that dimension.

Examples
--------
>>> pt.trapezoid([1.0, 2.0, 3.0], x=[4.0, 6.0, 8.0]).eval()
array(8.))");
  define(
      m, "gradient",
      [](const Like& f, nb::args varargs, const AxisLike& axis, int edge_order) -> nb::object {
        std::vector<Operand> spacings;
        for (nb::handle each : varargs) spacings.push_back(as_variable(each));
        const Variables out = gradient(as_variable(f), spacings, as_axes(axis, "gradient"), edge_order);
        if (out.size() == 1) return wrap(out[0]);
        return tuple_of(out);
      },
      "f"_a, "varargs"_a, "axis"_a.none() = nb::none(), "edge_order"_a = 1,
      nb::sig("def gradient(f: TensorVariable | numpy.typing.ArrayLike, *varargs: typing.Any, axis: int | "
              "collections.abc.Sequence[int] | None = None, edge_order: int = 1) -> typing.Any"),
      R"(The derivative of samples along each axis, by differences.

Parameters
----------
f : tensor_like
    Samples.
*varargs : tensor_like
    None for points at a distance of 1; one distance for all axes; or for each axis a distance or a vector of points.
    ValueError for another number.
axis : int, sequence of int, or None
    Along which dimensions; all by default.
edge_order : {1, 2}
    How the ends are computed: from two points, or from three. ValueError for fewer points than that.

Returns
-------
TensorVariable or tuple of them
    One for each axis, in the shape of f.

See Also
--------
bitale.grad : The derivative of an expression.

Examples
--------
>>> pt.gradient([1.0, 2.0, 4.0, 7.0]).eval()
array([1. , 1.5, 2.5, 3. ]))");
  define(
      m, "polyval", [](const Like& p, const Like& x) { return polyval(as_variable(p), as_variable(x)); }, "p"_a, "x"_a,
      R"(A polynomial at x, by Horner's rule.

Parameters
----------
p : tensor_like
    A vector of coefficients, that of the highest power first. ValueError for another rank.
x : tensor_like
    Where it is computed.

Returns
-------
TensorVariable
    In the shape of x.

Examples
--------
>>> pt.polyval([3, 0, 1], 5).eval()
array(76))");
  define(
      m, "vander",
      [](const Like& x, const Any& n, Flag increasing) {
        return vander(as_variable(x), optional_operand(n), increasing);
      },
      "x"_a, "N"_a = nb::none(), "increasing"_a = false,
      R"(The powers of the elements of a vector: Vandermonde's matrix.

Parameters
----------
x : tensor_like
    A vector; ValueError for another rank.
N : int or scalar
    The number of powers; by default as many as x has elements.
increasing : bool
    Whether the powers increase from 0; otherwise they decrease to 0.

Returns
-------
TensorVariable
    A row for each element.

Examples
--------
>>> pt.vander(np.array([2, 3]), 3).eval()
array([[4, 2, 1],
       [9, 3, 1]]))");
  define(
      m, "cross",
      [](const Like& a, const Like& b, int axisa, int axisb, int axisc, const Any& axis) {
        const auto all = as_optional_int(axis, "cross: axis");
        return cross(as_variable(a), as_variable(b),
                     {.axisa = all.value_or(axisa), .axisb = all.value_or(axisb), .axisc = all.value_or(axisc)});
      },
      "a"_a, "b"_a, "axisa"_a = -1, "axisb"_a = -1, "axisc"_a = -1, "axis"_a.none() = nb::none(),
      R"(The cross products of vectors.

Parameters
----------
a : tensor_like
    Vectors of length 3; ValueError for other lengths. Other dimensions broadcast.
b : tensor_like
    Vectors of length 3; ValueError for other lengths. Other dimensions broadcast.
axisa : int
    The dimensions of the vectors in a, in b and in the result.
axisb : int
    The dimensions of the vectors in a, in b and in the result.
axisc : int
    The dimensions of the vectors in a, in b and in the result.
axis : int or None
    The same for all three.

Returns
-------
TensorVariable
    Vectors of length 3.

Examples
--------
>>> pt.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).eval()
array([0., 0., 1.]))");
}

std::optional<std::pair<Operand, Operand>> range_of(const Any& range) {
  if (range.is_none()) return {};
  const Variables limits = as_variables(range, "histogram: range");
  if (limits.size() != 2) throw ValueError(cat("histogram: range: expected two numbers, got ", limits.size()));
  return std::pair{Operand(limits[0]), Operand(limits[1])};
}

void bind_distributions(nb::module_& m) {
  define(
      m, "histogram",
      [](const Like& a, const Any& bins, const Any& range, const Any& density, const Any& weights) {
        if (PyUnicode_Check(bins.ptr()))
          throw NotImplementedError(cat("histogram: the number of bins by a rule, ", shown(bins),
                                        ": its length would depend on the values; give a number or edges"));
        const std::optional<bool> is_density = density.is_none() ? false : as_truth_value(density);
        if (!is_density) throw TypeError(cat("histogram: density: expected a bool, got ", shown(density)));
        const Histogram out =
            histogram(as_variable(a), as_variable(bins),
                      {.range = range_of(range), .density = *is_density, .weights = optional_operand(weights)});
        return tuple_of(Variables{out.counts, out.edges});
      },
      "a"_a, "bins"_a = 10, "range"_a = nb::none(), "density"_a = nb::none(), "weights"_a = nb::none(),
      nb::sig("def histogram(a: TensorVariable | numpy.typing.ArrayLike, bins: typing.Any = 10, range: typing.Any = "
              "None, density: bool | None = None, weights: typing.Any = None) -> tuple[TensorVariable, "
              "TensorVariable]"),
      R"(How many elements lie in each bin.

Parameters
----------
a : tensor_like
    Real numbers, flattened. nan does not count.
bins : int or tensor_like
    A number of bins of equal lengths, or a vector of increasing edges; ValueError for others.
range : pair of numbers, or None
    The outermost edges of equal bins; by default the extremes of a.
density : bool
    Whether the counts are divided by their sum and by the lengths of the bins.
weights : tensor_like or None
    What each element counts, in the shape of a.

Returns
-------
tuple of two TensorVariables
    The counts, int64 or in the dtype of the weights, and the edges. A bin includes its lower edge, the last one the
    upper edge as well.

Examples
--------
>>> [part.eval().tolist() for part in pt.histogram([1.0, 2.0, 1.0], bins=[0.0, 1.0, 2.0, 3.0])]
[[0, 2, 1], [0.0, 1.0, 2.0, 3.0]])");
  define(
      m, "corrcoef",
      [](const Like& x, const Any& y, Flag rowvar) { return corrcoef(as_variable(x), optional_operand(y), rowvar); },
      "x"_a, "y"_a = nb::none(), "rowvar"_a = true,
      R"(The correlation coefficients of variables.

Parameters
----------
x : tensor_like
    Observations of variables, which are rows, or columns unless rowvar; vectors are one variable.
y : tensor_like
    Observations of variables, which are rows, or columns unless rowvar; vectors are one variable.
rowvar : bool
    Whether rows are variables.

Returns
-------
TensorVariable
    A matrix with ones on the diagonal; a scalar for one variable.

Examples
--------
>>> pt.corrcoef([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]).eval()
array([[ 1., -1.],
       [-1.,  1.]]))");
}

}  // namespace

void bind_calculus(nb::module_& m) {
  bind_samples(m);
  bind_distributions(m);
}

}  // namespace bitale::python
