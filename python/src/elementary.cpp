// Elementwise formulas with NumPy's names, and the activations of networks: the functions of elementary.hpp that are no
// records of the scalar-op table.
#include "bitale/ops/elementary.hpp"

#include <nanobind/nanobind.h>

#include "arguments.hpp"
#include "bitale/ops/names.hpp"
#include "define.hpp"
#include "flag.hpp"
#include "numpy_bridge.hpp"
#include "numpy_functions.hpp"

namespace bitale::python {

namespace {

template <Variable (*function)(const Operand&, const Operand&)>
Variable of_two(const Like& x, const Like& y) {
  return function(as_variable(x), as_variable(y));
}

void bind_of_two(nb::module_& m) {
  define(m, "fmod", of_two<fmod>, "x"_a, "y"_a,
         R"(The remainder of x / y with the sign of x, as C's; `mod` has the sign of y.

Parameters
----------
x : tensor_like
    Dividend and divisor, which broadcast. Integers modulo 0 give 0.
y : tensor_like
    Dividend and divisor, which broadcast. Integers modulo 0 give 0.

Returns
-------
TensorVariable
    x - y * trunc(x / y), without rounding.

Examples
--------
>>> pt.fmod([-3.0, 3.0], 2.0).eval()
array([-1.,  1.]))");
  define(m, "heaviside", of_two<heaviside>, "x1"_a, "x2"_a,
         R"(The step function: 0 below 0, 1 above, and x2 at 0; nan of nan.

Parameters
----------
x1 : tensor_like
    Where the function is computed. Its derivative is 0 there.
x2 : tensor_like
    The value at 0.

Returns
-------
TensorVariable
    Floats, broadcast.

Examples
--------
>>> pt.heaviside([-1.5, 0.0, 2.0], 0.5).eval()
array([0. , 0.5, 1. ]))");
  define(m, "logaddexp2", of_two<logaddexp2>, "x1"_a, "x2"_a,
         R"(The logarithm log2(2**x1 + 2**x2), which does not overflow.

Parameters
----------
x1 : tensor_like
    Logarithms to the base 2 of what is added; they broadcast.
x2 : tensor_like
    Logarithms to the base 2 of what is added; they broadcast.

Returns
-------
TensorVariable
    Floats.

Examples
--------
>>> pt.logaddexp2([1.0, 5.0], [1.0, 5.0]).eval()
array([2., 6.]))");
  define(m, "float_power", of_two<float_power>, "x1"_a, "x2"_a,
         R"(The power x1 ** x2 in float64 at least, also of integers; of complex numbers in complex128.

Parameters
----------
x1 : tensor_like
    Bases and exponents, which broadcast.
x2 : tensor_like
    Bases and exponents, which broadcast.

Returns
-------
TensorVariable
    float64 or complex128.

Examples
--------
>>> pt.float_power([2, 4], -1).eval()
array([0.5 , 0.25]))");
}

void bind_of_one(nb::module_& m) {
  define(
      m, "permute_dims",
      [](const Like& x, const Any& axes) { return permute_dims(as_variable(x), as_ints(axes, "permute_dims: axes")); },
      "x"_a, "axes"_a,
      R"(Return x with its dimensions in another order: transpose, under the array-API standard's name.

Parameters
----------
x : tensor_like
    Any tensor.
axes : sequence of int
    The dimension of x that each dimension of the result is.

Returns
-------
TensorVariable

Examples
--------
>>> pt.permute_dims(np.ones((2, 3, 4)), (2, 0, 1)).eval().shape
(4, 2, 3))");
  define(
      m, "astype", [](const Like& x, const DTypeLike& dtype, Flag) { return cast(as_variable(x), dtype_from(dtype)); },
      "x"_a, "dtype"_a, nb::kw_only(), "copy"_a = true,
      R"(Return the elements in another dtype: cast, under the array-API standard's name.

Parameters
----------
x : tensor_like
    Any tensor.
dtype : dtype
    As of cast.
copy : bool
    Accepted: values in a graph never change.

Returns
-------
TensorVariable
    In the shape of x.

Examples
--------
>>> pt.astype([1.5, 2.5], "int64").eval()
array([1, 2]))");
  define(
      m, "positive", [](const Like& x) { return positive(as_variable(x)); }, "x"_a,
      R"(The operand itself.

Parameters
----------
x : tensor_like
    Numbers. TypeError for bool.

Returns
-------
TensorVariable
    x.

Examples
--------
>>> pt.positive([-1.0, 2.0]).eval()
array([-1.,  2.]))");
  define(
      m, "relu", [](const Like& x, const Like& alpha) { return relu(as_variable(x), as_variable(alpha)); }, "x"_a,
      "alpha"_a = 0,
      R"(The rectified linear unit: x above 0, alpha * x below.

Parameters
----------
x : tensor_like
    Real numbers.
alpha : tensor_like
    The slope below 0: a number, or a tensor that broadcasts with x. The derivative at 0 is this slope.

Returns
-------
TensorVariable
    In the dtype of x, where alpha is a number.

Examples
--------
>>> pt.relu([-2.0, 3.0]).eval()
array([0., 3.]))");
  define(
      m, "elu", [](const Like& x, const Like& alpha) { return elu(as_variable(x), as_variable(alpha)); }, "x"_a,
      "alpha"_a = 1,
      R"(The exponential linear unit: x above 0, alpha * (exp(x) - 1) below.

Parameters
----------
x : tensor_like
    Real numbers.
alpha : tensor_like
    The negative of the limit for small x.

Returns
-------
TensorVariable
    Floats.

Notes
-----
Clevert, Unterthiner, Hochreiter: Fast and Accurate Deep Network Learning by Exponential Linear Units, 2016.

Examples
--------
>>> pt.elu([-1.0, 3.0]).eval()
array([-0.63212056,  3.        ]))");
  define(
      m, "gelu", [](const Like& x, Flag approximate) { return gelu(as_variable(x), approximate); }, "x"_a,
      "approximate"_a = false,
      R"(The Gaussian error linear unit: x times the normal distribution function of x.

Parameters
----------
x : tensor_like
    Real numbers.
approximate : bool
    By a formula of tanh, with an error of up to 5e-4.

Returns
-------
TensorVariable
    Floats.

Notes
-----
Hendrycks, Gimpel: Gaussian Error Linear Units, 2016.

Examples
--------
>>> pt.gelu([-1.0, 1.0]).eval()
array([-0.15865525,  0.84134475]))");
  define(
      m, "silu", [](const Like& x) { return silu(as_variable(x)); }, "x"_a,
      R"(The sigmoid linear unit: x * sigmoid(x), also called swish.

Parameters
----------
x : tensor_like
    Real numbers.

Returns
-------
TensorVariable
    Floats.

Examples
--------
>>> pt.silu([-1.0, 1.0]).eval()
array([-0.26894142,  0.73105858]))");
}

}  // namespace

void bind_elementary(nb::module_& m) {
  bind_of_two(m);
  bind_of_one(m);
}

}  // namespace bitale::python
