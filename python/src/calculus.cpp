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
      R"(>>> pt.trapezoid([1.0, 2.0, 3.0], x=[4.0, 6.0, 8.0]).eval()
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
      R"(>>> pt.gradient([1.0, 2.0, 4.0, 7.0]).eval()
array([1. , 1.5, 2.5, 3. ]))");
  define(
      m, "polyval", [](const Like& p, const Like& x) { return polyval(as_variable(p), as_variable(x)); }, "p"_a, "x"_a,
      R"(>>> pt.polyval([3, 0, 1], 5).eval()
array(76))");
  define(
      m, "vander",
      [](const Like& x, const Any& n, Flag increasing) {
        return vander(as_variable(x), optional_operand(n), {.increasing = increasing});
      },
      "x"_a, "N"_a = nb::none(), "increasing"_a = false,
      R"(>>> pt.vander(np.array([2, 3]), 3).eval()
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
      R"(>>> pt.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).eval()
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
      R"(>>> [part.eval().tolist() for part in pt.histogram([1.0, 2.0, 1.0], bins=[0.0, 1.0, 2.0, 3.0])]
[[0, 2, 1], [0.0, 1.0, 2.0, 3.0]])");
  define(
      m, "corrcoef",
      [](const Like& x, const Any& y, Flag rowvar, const DTypeLike& dtype) {
        return corrcoef(as_variable(x), optional_operand(y), {.rowvar = rowvar, .dtype = optional_dtype(dtype)});
      },
      "x"_a, "y"_a = nb::none(), "rowvar"_a = true, nb::kw_only(), "dtype"_a = nb::none(),
      R"(>>> pt.corrcoef([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]).eval()
array([[ 1., -1.],
       [-1.,  1.]]))");
}

}  // namespace

void bind_calculus(nb::module_& m) {
  bind_samples(m);
  bind_distributions(m);
}

}  // namespace bitale::python
