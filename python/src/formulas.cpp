// Functions that are short expressions of others: those of comparison.hpp, statistics.hpp, interpolate.hpp and the
// like, with PyTensor's argument names.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/arrange.hpp"
#include "bitale/ops/comparison.hpp"
#include "bitale/ops/complex.hpp"
#include "bitale/ops/creation.hpp"
#include "bitale/ops/interpolate.hpp"
#include "bitale/ops/search.hpp"
#include "bitale/ops/statistics.hpp"
#include "define.hpp"
#include "device.hpp"
#include "flag.hpp"
#include "instance.hpp"
#include "numpy_bridge.hpp"
#include "ops/option_names.hpp"
#include "variable_lists.hpp"

namespace bitale::python {

namespace {

// NotImplementedError, as PyTensor's, for another method.
InterpolationMethod method_named(std::string_view text) {
  for (const auto& each : option_names<InterpolationMethod>)
    if (text == each.name) return each.value;
  throw NotImplementedError(
      cat("interpolate1d: method must be one of linear, nearest, first, last, mean, not \"", text, "\""));
}

std::vector<int> one_or_several_ints(nb::handle given, std::string_view what) {
  if (is_integer_object(given)) return {*as_optional_int(given, what)};
  return as_ints(given, what);
}

void bind_arrangements(nb::module_& m) {
  define_both_of(
      m, "swapaxes", "y"_a, [](const Like& y, int axis1, int axis2) { return swapaxes(as_variable(y), axis1, axis2); },
      "axis1"_a, "axis2"_a, R"(>>> pt.swapaxes(np.ones((2, 3, 4)), 0, 2).eval().shape
(4, 3, 2))");
  define(
      m, "swap_last_axes", [](const Like& x) { return swapaxes(as_variable(x), -1, -2); }, "x"_a,
      R"(>>> pt.swap_last_axes(np.ones((2, 3, 4))).eval().shape
(2, 4, 3))");
  define(
      m, "moveaxis",
      [](const Like& a, const Any& source, const Any& destination) {
        return moveaxis(as_variable(a), one_or_several_ints(source, "moveaxis: source"),
                        one_or_several_ints(destination, "moveaxis: destination"));
      },
      "a"_a, "source"_a, "destination"_a, R"(>>> pt.moveaxis(np.ones((2, 3, 4)), 0, -1).eval().shape
(3, 4, 2))");
  define(
      m, "shape_padleft", [](const Like& t, int n_ones) { return shape_padleft(as_variable(t), n_ones); }, "t"_a,
      "n_ones"_a = 1, R"(>>> pt.shape_padleft(np.ones((2, 3))).eval().shape
(1, 2, 3))");
  define(
      m, "shape_padright", [](const Like& t, int n_ones) { return shape_padright(as_variable(t), n_ones); }, "t"_a,
      "n_ones"_a = 1, R"(>>> pt.shape_padright(np.ones((2, 3))).eval().shape
(2, 3, 1))");
  define(
      m, "shape_padaxis", [](const Like& t, int axis) { return shape_padaxis(as_variable(t), axis); }, "t"_a, "axis"_a,
      R"(>>> pt.shape_padaxis(np.ones((2, 3)), 1).eval().shape
(2, 1, 3))");
  define(
      m, "atleast_Nd",
      [](const Like& arry, int n, Flag left) {
        return atleast_Nd(as_variable(arry), n, left ? NewAxes::Leading : NewAxes::Trailing);
      },
      "arry"_a, "n"_a = 1, nb::kw_only(), "left"_a = true, R"(>>> pt.atleast_Nd([1, 2], n=3, left=False).eval().shape
(2, 1, 1))");
  define(
      m, "atleast_1d", [](const Like& x) { return atleast_1d(as_variable(x)); }, "x"_a, R"(>>> pt.atleast_1d(3.0).eval()
array([3.], dtype=float32))");
  define(
      m, "atleast_2d", [](const Like& x) { return atleast_2d(as_variable(x)); }, "x"_a,
      R"(>>> pt.atleast_2d([1, 2]).eval()
array([[1, 2]]))");
  define(
      m, "atleast_3d", [](const Like& x) { return atleast_3d(as_variable(x)); }, "x"_a,
      R"(>>> pt.atleast_3d([1, 2]).eval().shape
(1, 1, 2))");
  define(
      m, "horizontal_stack", [](nb::args args) { return horizontal_stack(as_variables(args, "horizontal_stack")); },
      "args"_a, R"(>>> pt.horizontal_stack(np.ones((2, 1)), np.zeros((2, 2))).eval()
array([[1., 0., 0.],
       [1., 0., 0.]]))");
  define(
      m, "vertical_stack", [](nb::args args) { return vertical_stack(as_variables(args, "vertical_stack")); }, "args"_a,
      R"(>>> pt.vertical_stack(np.ones((1, 2)), np.zeros((1, 2))).eval()
array([[1., 1.],
       [0., 0.]]))");
  define(
      m, "concat_with_broadcast",
      [](const Any& tensors, int axis) {
        return concat_with_broadcast(as_variables(tensors, "concat_with_broadcast"), axis);
      },
      "tensor_list"_a, "axis"_a = 0, R"(>>> pt.concat_with_broadcast([np.ones((2, 1)), np.zeros((1, 2))], axis=1).eval()
array([[1., 0., 0.],
       [1., 0., 0.]]))");
}

void bind_creations(nb::module_& m) {
  define(
      m, "full",
      [](const ShapeLike& shape, const Like& fill_value, const DTypeLike& dtype, const Any& device) {
        check_device(device, "full");
        return full(as_lengths(shape, "full"), as_variable(fill_value), optional_dtype(dtype));
      },
      "shape"_a, "fill_value"_a, "dtype"_a = nb::none(), nb::kw_only(), "device"_a = nb::none(),
      R"(>>> pt.full((2, 2), 7.0).eval()
array([[7., 7.],
       [7., 7.]], dtype=float32))");
  define(
      m, "full_like",
      [](const Like& a, const Like& fill_value, const DTypeLike& dtype, const Any& device) {
        check_device(device, "full_like");
        return full_like(as_variable(a), as_variable(fill_value), optional_dtype(dtype));
      },
      "a"_a, "fill_value"_a, "dtype"_a = nb::none(), nb::kw_only(), "device"_a = nb::none(),
      R"(>>> pt.full_like(np.ones(3), 7).eval()
array([7, 7, 7]))");
  define(
      m, "identity_like",
      [](const Like& x, const DTypeLike& dtype) { return identity_like(as_variable(x), optional_dtype(dtype)); }, "x"_a,
      "dtype"_a = nb::none(), R"(>>> pt.identity_like(np.ones((2, 3))).eval()
array([[1., 0., 0.],
       [0., 1., 0.]]))");
  define(
      m, "bartlett", [](const Like& points) { return bartlett(as_variable(points)); }, "M"_a,
      R"(>>> pt.bartlett(5).eval()
array([0. , 0.5, 1. , 0.5, 0. ]))");
  define(
      m, "tril_indices",
      [](const Like& n, int k, const Any& columns) {
        return tuple_of(tril_indices(as_variable(n), k, optional_operand(columns)));
      },
      "n"_a, "k"_a = 0, "m"_a = nb::none(),
      nb::sig("def tril_indices(n: TensorVariable | numpy.typing.ArrayLike, k: int = 0, m: typing.Any = None) -> "
              "tuple[TensorVariable, ...]"),
      R"(>>> [indices.eval().tolist() for indices in pt.tril_indices(2)]
[[0, 1, 1], [0, 0, 1]])");
  define(
      m, "triu_indices",
      [](const Like& n, int k, const Any& columns) {
        return tuple_of(triu_indices(as_variable(n), k, optional_operand(columns)));
      },
      "n"_a, "k"_a = 0, "m"_a = nb::none(),
      nb::sig("def triu_indices(n: TensorVariable | numpy.typing.ArrayLike, k: int = 0, m: typing.Any = None) -> "
              "tuple[TensorVariable, ...]"),
      R"(>>> [indices.eval().tolist() for indices in pt.triu_indices(2)]
[[0, 0, 1], [0, 1, 1]])");
  define(
      m, "tril_indices_from", [](const Like& a, int k) { return tuple_of(tril_indices_from(as_variable(a), k)); },
      "a"_a, "k"_a = 0,
      nb::sig("def tril_indices_from(a: TensorVariable | numpy.typing.ArrayLike, k: int = 0) -> tuple[TensorVariable, "
              "...]"),
      R"(>>> [indices.eval().tolist() for indices in pt.tril_indices_from(np.ones((2, 2)))]
[[0, 1, 1], [0, 0, 1]])");
  define(
      m, "triu_indices_from", [](const Like& a, int k) { return tuple_of(triu_indices_from(as_variable(a), k)); },
      "a"_a, "k"_a = 0,
      nb::sig("def triu_indices_from(a: TensorVariable | numpy.typing.ArrayLike, k: int = 0) -> tuple[TensorVariable, "
              "...]"),
      R"(>>> [indices.eval().tolist() for indices in pt.triu_indices_from(np.ones((2, 2)))]
[[0, 0, 1], [0, 1, 1]])");
}

Tolerance tolerance_of(double rtol, double atol, bool equal_nan) {
  return {.rtol = rtol, .atol = atol, .equal_nan = equal_nan};
}

void bind_comparisons(nb::module_& m) {
  define(
      m, "isclose",
      [](const Like& a, const Like& b, double rtol, double atol, Flag equal_nan) {
        return isclose(as_variable(a), as_variable(b), tolerance_of(rtol, atol, equal_nan));
      },
      "a"_a, "b"_a, "rtol"_a = 1e-05, "atol"_a = 1e-08, "equal_nan"_a = false,
      R"(>>> pt.isclose([1.0, 2.0], [1.0, 2.1]).eval()
array([ True, False]))");
  define(
      m, "allclose",
      [](const Like& a, const Like& b, double rtol, double atol, Flag equal_nan) {
        return allclose(as_variable(a), as_variable(b), tolerance_of(rtol, atol, equal_nan));
      },
      "a"_a, "b"_a, "rtol"_a = 1e-05, "atol"_a = 1e-08, "equal_nan"_a = false,
      R"(>>> pt.allclose([1.0, 2.0], [1.0, 2.0 + 1e-9]).eval()
array(True))");
  define(
      m, "isposinf", [](const Like& x) { return isposinf(as_variable(x)); }, "x"_a,
      R"(>>> pt.isposinf([1.0, np.inf]).eval()
array([False,  True]))");
  define(
      m, "isneginf", [](const Like& x) { return isneginf(as_variable(x)); }, "x"_a,
      R"(>>> pt.isneginf([1.0, -np.inf]).eval()
array([False,  True]))");
  const auto extreme = [](const char* name, Variable (*pick)(const Operands&)) {
    return [name, pick](nb::args args) {
      if (nb::len(args) == 0) throw TypeError(cat(name, "() takes at least one tensor"));
      return pick(as_variables(args, name));
    };
  };
  define(m, "largest", extreme("largest", largest), "args"_a, R"(>>> pt.largest([1, 5], [4, 2]).eval()
array([4, 5]))");
  define(m, "smallest", extreme("smallest", smallest), "args"_a, R"(>>> pt.smallest([1, 5], [4, 2]).eval()
array([1, 2]))");
  define(
      m, "divmod",
      [](const Like& x, const Like& y) {
        const auto [quotient, remainder] = divmod(as_variable(x), as_variable(y));
        return tuple_of(Variables{quotient, remainder});
      },
      "x"_a, "y"_a,
      nb::sig("def divmod(x: TensorVariable | numpy.typing.ArrayLike, y: TensorVariable | numpy.typing.ArrayLike) -> "
              "tuple[TensorVariable, TensorVariable]"),
      R"(>>> [part.eval() for part in pt.divmod(7, 2)]
[array(3), array(1)])");
  define(
      m, "ceil_intdiv", [](const Like& a, const Like& b) { return ceil_intdiv(as_variable(a), as_variable(b)); }, "a"_a,
      "b"_a, R"(>>> pt.ceil_intdiv(7, 2).eval()
array(4))");
  define_both_of(
      m, "ptp", "a"_a,
      [](const Like& a, const AxisLike& axis, Flag keepdims) {
        return ptp(as_variable(a), as_axes(axis, "ptp"), keepdims);
      },
      "axis"_a.none() = nb::none(), "keepdims"_a = false, R"(>>> pt.ptp(np.array([3.0, 7.0, 5.0])).eval()
array(4.))");
  define(
      m, "cov",
      [](const Like& observed, const Any& y, Flag rowvar, Flag bias, const Any& ddof, const Any& fweights,
         const Any& aweights, const DTypeLike& dtype) {
        if (!ddof.is_none() && !is_integer_object(ddof)) throw ValueError("cov: expected an integer as ddof");
        return cov(as_variable(observed), optional_operand(y),
                   {.rowvar = rowvar,
                    .bias = bias,
                    .ddof = as_optional_int(ddof, "cov: ddof"),
                    .fweights = optional_operand(fweights),
                    .aweights = optional_operand(aweights),
                    .dtype = optional_dtype(dtype)});
      },
      "m"_a, "y"_a = nb::none(), "rowvar"_a = true, "bias"_a = false, "ddof"_a = nb::none(), "fweights"_a = nb::none(),
      "aweights"_a = nb::none(), nb::kw_only(), "dtype"_a = nb::none(),
      R"(>>> pt.cov(np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])).eval()
array([[ 1., -1.],
       [-1.,  1.]]))");
}

void bind_parts_of_complex_numbers(nb::module_& m) {
  define(
      m, "real", [](const Like& x) { return real(as_variable(x)); }, "x"_a, R"(>>> pt.real([1 + 2j, 3.0]).eval()
array([1., 3.]))");
  define(
      m, "imag", [](const Like& x) { return imag(as_variable(x)); }, "x"_a, R"(>>> pt.imag([1 + 2j, 3.0]).eval()
array([2., 0.]))");
  for (const char* name : {"conj", "conjugate"})
    define(
        m, name, [](const Like& x) { return conj(as_variable(x)); }, "x"_a,
        "The complex conjugate; of a real tensor, the tensor itself.\n\n"
        ">>> pt.conj([1 + 2j, 3.0]).eval()\narray([1.-2.j, 3.-0.j])");
  define_both_of(
      m, "angle", "z"_a, [](const Like& z) { return angle(as_variable(z)); }, R"(>>> pt.angle([1j, -1.0]).eval()
array([1.57079633, 3.14159265]))");
}

int count_of(nb::handle kth, const char* who) {
  if (is_variable(kth)) throw NotImplementedError(cat(who, ": expected a number as kth, got a variable"));
  if (!is_integer_object(kth)) throw TypeError(cat(who, ": expected an integer as kth, got ", shown(kth)));
  return *as_optional_int(kth, who);
}

void bind_extremes(nb::module_& m) {
  const auto indices = [](const Variable& found, const DTypeLike& dtype) {
    return cast(found, optional_dtype(dtype).value_or(DType::Int64));
  };
  define(
      m, "topk",
      [](const Like& x, const Any& kth, const AxisLike& axis, Flag, const Any&) {
        return topk(as_variable(x), count_of(kth, "topk"), as_optional_int(axis, "topk: axis"));
      },
      "x"_a, "kth"_a, "axis"_a.none() = -1, "sorted"_a = true, "idx_dtype"_a = "int64", R"(>>> x = pt.dvector("x")
>>> pt.topk(x, 2).eval({x: [3.0, 1.0, 4.0, 1.0, 5.0]})
array([4., 5.]))");
  define(
      m, "argtopk",
      [=](const Like& x, const Any& kth, const AxisLike& axis, Flag, const DTypeLike& idx_dtype) {
        return indices(argtopk(as_variable(x), count_of(kth, "argtopk"), as_optional_int(axis, "argtopk: axis")),
                       idx_dtype);
      },
      "x"_a, "kth"_a, "axis"_a.none() = -1, "sorted"_a = true, "idx_dtype"_a = "int64", R"(>>> x = pt.dvector("x")
>>> pt.argtopk(x, -2).eval({x: [3.0, 1.0, 4.0, 0.0, 5.0]})
array([3, 1]))");
  define(
      m, "topk_and_argtopk",
      [=](const Like& x, const Any& kth, const AxisLike& axis, Flag, const DTypeLike& idx_dtype) {
        const auto found = topk_and_argtopk(as_variable(x), count_of(kth, "topk_and_argtopk"),
                                            as_optional_int(axis, "topk_and_argtopk: axis"));
        return tuple_of(Variables{found.values, indices(found.positions, idx_dtype)});
      },
      "x"_a, "kth"_a, "axis"_a.none() = -1, "sorted"_a = true, "idx_dtype"_a = "int64",
      nb::sig(
          "def topk_and_argtopk(x: TensorVariable | numpy.typing.ArrayLike, kth: int, axis: int | None = -1, "
          "sorted: bool = True, idx_dtype: numpy.typing.DTypeLike = 'int64') -> tuple[TensorVariable, TensorVariable]"),
      R"(>>> x = pt.dvector("x")
>>> values, indices = pt.topk_and_argtopk(x, 1)
>>> bt.function([x], [values, indices])([3.0, 7.0, 4.0])
[array([7.]), array([1])])");
}

void bind_properties(nb::module_& m) {
  auto cls = variable_class(m);
  cls.def_prop_ro(
      "real", [](const TensorVariableObject& self) { return real(self.variable); }, nb::call_guard<AtCaller>(),
      "The real part.");
  cls.def_prop_ro(
      "imag", [](const TensorVariableObject& self) { return imag(self.variable); }, nb::call_guard<AtCaller>(),
      "The imaginary part.");
  cls.def_prop_ro(
      "mT", [](const TensorVariableObject& self) { return swapaxes(self.variable, -1, -2); },
      nb::call_guard<AtCaller>(), "Each matrix of a stack transposed.");
  for (const char* name : {"conj", "conjugate"})
    define_method(
        m, name, [](const Like& x) { return conj(as_variable(x)); }, "The complex conjugate.");
}

void bind_searches(nb::module_& m) {
  define(
      m, "permute_row_elements",
      [](const Like& x, const Like& y, Flag inverse) {
        return permute_row_elements(as_variable(x), as_variable(y), {.inverse = inverse});
      },
      "x"_a, "y"_a, "inverse"_a = false,
      R"(>>> pt.permute_row_elements(np.array([[1, 2, 3]]), np.array([2, 0, 1])).eval()
array([[3, 1, 2]]))");
  define(
      m, "interp",
      [](const Like& x, const Like& xp, const Like& fp, const Any& left, const Any& right, const Any& period) {
        return interp(
            as_variable(x), as_variable(xp), as_variable(fp),
            {.left = optional_operand(left), .right = optional_operand(right), .period = optional_operand(period)});
      },
      "x"_a, "xp"_a, "fp"_a, "left"_a = nb::none(), "right"_a = nb::none(), "period"_a = nb::none(),
      R"(>>> pt.interp(1.5, [1.0, 2.0], [10.0, 20.0]).eval()
array(15.))");
  m.def(
      "_interpolate1d",
      [](const Like& x, const Like& y, const std::string& method, const Any& left, const Any& right, Flag extrapolate) {
        auto function = interpolate1d(as_variable(x), as_variable(y),
                                      {.method = method_named(method),
                                       .left_pad = optional_operand(left),
                                       .right_pad = optional_operand(right),
                                       .extrapolate = extrapolate});
        return nb::cpp_function([function](const Like& x_hat) { return function(as_variable(x_hat)); }, "x_hat"_a);
      },
      nb::call_guard<AtCaller>(), "x"_a, "y"_a, "method"_a, "left_pad"_a.none(), "right_pad"_a.none(), "extrapolate"_a);
}

}  // namespace

void bind_formulas(nb::module_& m) {
  bind_arrangements(m);
  bind_creations(m);
  bind_comparisons(m);
  bind_parts_of_complex_numbers(m);
  bind_properties(m);
  bind_extremes(m);
  bind_searches(m);
}

}  // namespace bitale::python
