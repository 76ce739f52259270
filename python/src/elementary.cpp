// Elementwise formulas with NumPy's names, and the activations of networks: the functions of elementary.hpp that are no
// records of the scalar-op table.
#include "bitale/ops/elementary.hpp"

#include <nanobind/nanobind.h>

#include "arguments.hpp"
#include "bitale/ops/names.hpp"
#include "define.hpp"
#include "device.hpp"
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
         R"(>>> pt.fmod([-3.0, 3.0], 2.0).eval()
array([-1.,  1.]))");
  define(m, "heaviside", of_two<heaviside>, "x1"_a, "x2"_a,
         R"(>>> pt.heaviside([-1.5, 0.0, 2.0], 0.5).eval()
array([0. , 0.5, 1. ]))");
  define(m, "logaddexp2", of_two<logaddexp2>, "x1"_a, "x2"_a,
         R"(>>> pt.logaddexp2([1.0, 5.0], [1.0, 5.0]).eval()
array([2., 6.]))");
  define(m, "float_power", of_two<float_power>, "x1"_a, "x2"_a,
         R"(>>> pt.float_power([2, 4], -1).eval()
array([0.5 , 0.25]))");
}

void bind_of_one(nb::module_& m) {
  define(
      m, "permute_dims",
      [](const Like& x, const Any& axes) { return permute_dims(as_variable(x), as_ints(axes, "permute_dims: axes")); },
      "x"_a, "axes"_a,
      R"(>>> pt.permute_dims(np.ones((2, 3, 4)), (2, 0, 1)).eval().shape
(4, 2, 3))");
  define(
      m, "astype",
      [](const Like& x, const DTypeLike& dtype, Flag, const Any& device) {
        check_device(device, "astype");
        return cast(as_variable(x), dtype_from(dtype));
      },
      "x"_a, "dtype"_a, nb::kw_only(), "copy"_a = true, "device"_a = nb::none(),
      R"(>>> pt.astype([1.5, 2.5], "int64").eval()
array([1, 2]))");
  define(
      m, "positive", [](const Like& x) { return positive(as_variable(x)); }, "x"_a,
      R"(>>> pt.positive([-1.0, 2.0]).eval()
array([-1.,  2.]))");
  define(
      m, "relu", [](const Like& x, const Like& alpha) { return relu(as_variable(x), as_variable(alpha)); }, "x"_a,
      "alpha"_a = 0,
      R"(>>> pt.relu([-2.0, 3.0]).eval()
array([0., 3.]))");
  define(
      m, "elu", [](const Like& x, const Like& alpha) { return elu(as_variable(x), as_variable(alpha)); }, "x"_a,
      "alpha"_a = 1,
      R"(>>> pt.elu([-1.0, 3.0]).eval()
array([-0.63212056,  3.        ]))");
  define(
      m, "gelu",
      [](const Like& x, Flag approximate) {
        return gelu(as_variable(x), approximate ? GeluApproximation::Tanh : GeluApproximation::None);
      },
      "x"_a, "approximate"_a = false,
      R"(>>> pt.gelu([-1.0, 1.0]).eval()
array([-0.15865525,  0.84134475]))");
  define(
      m, "silu", [](const Like& x) { return silu(as_variable(x)); }, "x"_a,
      R"(>>> pt.silu([-1.0, 1.0]).eval()
array([-0.26894142,  0.73105858]))");
}

}  // namespace

void bind_elementary(nb::module_& m) {
  bind_of_two(m);
  bind_of_one(m);
}

}  // namespace bitale::python
