// Discrete Fourier transforms, for bitale.tensor.fft and bitale.array_api.fft.
#include "bitale/ops/fft.hpp"

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
#include "bitale/ops/fourier.hpp"
#include "define.hpp"
#include "instance.hpp"
#include "numpy_bridge.hpp"

namespace bitale::python {

namespace {

FourierNorm as_norm(const std::optional<std::string>& norm, const char* who) {
  if (!norm) return FourierNorm::Backward;
  if (*norm == "ortho") return FourierNorm::Ortho;
  if (*norm == "no_norm") return FourierNorm::None;
  throw ValueError(cat(who, ": expected norm None, \"ortho\" or \"no_norm\", got \"", *norm, "\""));
}

fourier::Norm as_numpy_norm(const std::optional<std::string>& norm, const char* who) {
  if (!norm || *norm == "backward") return fourier::Norm::Backward;
  if (*norm == "ortho") return fourier::Norm::Ortho;
  if (*norm == "forward") return fourier::Norm::Forward;
  throw ValueError(cat(who, ": expected norm \"backward\", \"ortho\" or \"forward\", got \"", *norm, "\""));
}

// The name without the underscore of functions that bitale.tensor.fft does not have under their name.
const char* public_name(const char* name) { return name[0] == '_' ? name + 1 : name; }

using Line = Variable (*)(const Operand&, const fourier::LineOptions&);
void bind_line(nb::module_& m, const char* name, Line function, const char* summary, const char* length,
               const char* returns, const char* example) {
  const char* const who = public_name(name);
  add_function(
      m, name,
      [function, who](const Like& a, const Any& n, int axis, const std::optional<std::string>& norm) {
        return function(as_variable(a), {.n = optional_operand(n), .axis = axis, .norm = as_numpy_norm(norm, who)});
      },
      nb::call_guard<AtCaller>(), "a"_a, "n"_a = nb::none(), "axis"_a = -1, "norm"_a = nb::none(),
      cat(summary, R"(

Parameters
----------
a : tensor_like
    Numbers. float32 and complex64 are computed in float32, all others in float64.
n : int, scalar, or None
    )",
          length, R"(
axis : int
    Along which dimension.
norm : {"backward", "ortho", "forward"} or None
    Which transform is divided by the number of elements: the inverse one (the default), both by its square root, or the
    forward one. ValueError for another.

Returns
-------
TensorVariable
    )",
          returns, "\n\nExamples\n--------\n", example));
}

std::optional<std::vector<Operand>> lengths_of_axes(const Any& s, const char* who) {
  if (s.is_none()) return {};
  std::vector<Operand> out;
  for (const Variable& each : as_lengths(nb::borrow<ShapeLike>(s), cat(who, ": s"))) out.push_back(each);
  return out;
}

using Grid = Variable (*)(const Operand&, const fourier::GridOptions&);
void bind_grid(nb::module_& m, const char* name, Grid function, const char* summary, bool is_two_dimensional,
               const char* returns, const char* example) {
  const nb::object axes = is_two_dimensional ? nb::object(nb::make_tuple(-2, -1)) : nb::object(nb::none());
  add_function(
      m, name,
      [function, name](const Like& a, const Any& s, const AxisLike& axes, const std::optional<std::string>& norm) {
        return function(
            as_variable(a),
            {.s = lengths_of_axes(s, name), .axes = as_axes(axes, name), .norm = as_numpy_norm(norm, name)});
      },
      nb::call_guard<AtCaller>(), "a"_a, "s"_a = nb::none(), "axes"_a.none() = axes, "norm"_a = nb::none(),
      cat(summary, R"(

Parameters
----------
a : tensor_like
    Numbers. float32 and complex64 are computed in float32, all others in float64.
s : sequence of int or scalars, or None
    The number of elements along each axis, to which a is cut or filled up with zeros.
axes : sequence of int, or None
    )",
          is_two_dimensional ? "Two dimensions." : "By default the last ones, as many as s has lengths, or all.", R"(
norm : {"backward", "ortho", "forward"} or None
    As of fft.

Returns
-------
TensorVariable
    )",
          returns, "\n\nExamples\n--------\n", example));
}

void bind_transforms_along_one_axis(nb::module_& m) {
  constexpr const char* cut = "The number of elements, to which a is cut or filled up with zeros; by default its own.";
  constexpr const char* real_length =
      "The number of elements of the result; by default 2 (length - 1), where length is that of a.";
  bind_line(m, "fft", fourier::fft, "The discrete Fourier transform along an axis.", cut, "complex64 or complex128.",
            ">>> pt.fft.fft([1.0, 0.0, 0.0, 0.0]).eval()\narray([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])");
  bind_line(m, "ifft", fourier::ifft, "The inverse of fft.", cut, "complex64 or complex128.",
            ">>> pt.fft.ifft([4.0, 0.0, 0.0, 0.0]).eval()\narray([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])");
  bind_line(m, "_rfft", fourier::rfft, "The first half of fft of real numbers, which determines the other half.", cut,
            "complex64 or complex128, n // 2 + 1 elements. TypeError for complex numbers.",
            ">>> bt.array_api.fft.rfft(pt.constant([1.0, 0.0, 0.0, 0.0])).eval()\narray([1.+0.j, 1.+0.j, 1.+0.j])");
  bind_line(m, "_irfft", fourier::irfft, "The inverse of rfft: real numbers.", real_length, "float32 or float64.",
            ">>> bt.array_api.fft.irfft(pt.constant([1.0, 1.0, 1.0])).eval()\narray([1., 0., 0., 0.])");
  bind_line(m, "hfft", fourier::hfft,
            "The transform of numbers of which a is the first half, and the other half its conjugate: real numbers.",
            real_length, "float32 or float64.", ">>> pt.fft.hfft([1.0, 2.0, 3.0]).eval()\narray([ 8., -2.,  0., -2.])");
  bind_line(m, "ihfft", fourier::ihfft, "The inverse of hfft.", cut,
            "complex64 or complex128, n // 2 + 1 elements. TypeError for complex numbers.",
            ">>> pt.fft.ihfft([8.0, -2.0, 0.0, -2.0]).eval().real\narray([1., 2., 3.])");
}

void bind_grids(nb::module_& m) {
  constexpr const char* complex = "complex64 or complex128.";
  constexpr const char* half = "complex64 or complex128; the last axis has half of its elements and one.";
  constexpr const char* real = "float32 or float64.";
  bind_grid(m, "fft2", fourier::fft2, "The discrete Fourier transform along two axes.", true, complex,
            ">>> pt.fft.fft2(np.eye(2)).eval().real\narray([[2., 0.],\n       [0., 2.]])");
  bind_grid(m, "ifft2", fourier::ifft2, "The inverse of fft2.", true, complex,
            ">>> pt.fft.ifft2(2 * np.eye(2)).eval().real\narray([[1., 0.],\n       [0., 1.]])");
  bind_grid(m, "rfft2", fourier::rfft2, "The half of fft2 of real numbers that determines the other half.", true, half,
            ">>> pt.fft.rfft2(np.eye(3)).eval().shape\n(3, 2)");
  bind_grid(m, "irfft2", fourier::irfft2, "The inverse of rfft2: real numbers.", true, real,
            ">>> pt.fft.irfft2(pt.fft.rfft2(np.eye(2))).eval()\narray([[1., 0.],\n       [0., 1.]])");
  bind_grid(m, "fftn", fourier::fftn, "The discrete Fourier transform along several axes.", false, complex,
            ">>> pt.fft.fftn(np.ones((2, 2))).eval().real\narray([[4., 0.],\n       [0., 0.]])");
  bind_grid(m, "ifftn", fourier::ifftn, "The inverse of fftn.", false, complex,
            ">>> pt.fft.ifftn(np.ones((2, 2))).eval().real\narray([[1., 0.],\n       [0., 0.]])");
  bind_grid(m, "rfftn", fourier::rfftn, "The half of fftn of real numbers that determines the other half.", false, half,
            ">>> pt.fft.rfftn(np.ones((2, 4))).eval().shape\n(2, 3)");
  bind_grid(m, "irfftn", fourier::irfftn, "The inverse of rfftn: real numbers.", false, real,
            ">>> pt.fft.irfftn(pt.fft.rfftn(np.ones((2, 4)))).eval().shape\n(2, 4)");
}

using Frequencies = Variable (*)(const Operand&, const Operand&, std::optional<DType>);
void bind_frequencies(nb::module_& m, const char* name, Frequencies function, const char* which, const char* example) {
  add_function(
      m, name,
      [function](const Like& n, const Like& d, const DTypeLike& dtype) {
        return function(as_variable(n), as_variable(d), optional_dtype(dtype));
      },
      nb::call_guard<AtCaller>(), "n"_a, "d"_a = 1.0, nb::kw_only(), "dtype"_a = nb::none(),
      cat("The frequencies of the elements of ", which, R"(.

Parameters
----------
n : int or scalar
    The number of samples.
d : tensor_like
    Their distance.
dtype : dtype
    Of the result; config.floatX by default.

Returns
-------
TensorVariable
    A vector.

Examples
--------
)",
          example));
}

using Shifting = Variable (*)(const Operand&, const Axes&);
void bind_shift(nb::module_& m, const char* name, Shifting function, const char* summary, const char* example) {
  add_function(
      m, name,
      [function, name](const Like& x, const AxisLike& axes) { return function(as_variable(x), as_axes(axes, name)); },
      nb::call_guard<AtCaller>(), "x"_a, "axes"_a.none() = nb::none(),
      cat(summary, R"(

Parameters
----------
x : tensor_like
    In the order of fft.
axes : int, sequence of int, or None
    Along which dimensions; all by default.

Returns
-------
TensorVariable
    In the shape of x.

Examples
--------
)",
          example));
}

}  // namespace

void bind_fft(nb::module_& m) {
  bind_transforms_along_one_axis(m);
  bind_grids(m);
  bind_frequencies(m, "fftfreq", fourier::fftfreq, "fft: 0 and the positive ones before the negative ones",
                   ">>> pt.fft.fftfreq(4).eval()\narray([ 0.  ,  0.25, -0.5 , -0.25])");
  bind_frequencies(m, "rfftfreq", fourier::rfftfreq, "a real transform, from 0 on",
                   ">>> pt.fft.rfftfreq(4).eval()\narray([0.  , 0.25, 0.5 ])");
  bind_shift(m, "fftshift", fourier::fftshift, "Rotated such that the frequency 0 is in the middle.",
             ">>> pt.fft.fftshift([0.0, 1.0, -2.0, -1.0]).eval()\narray([-2., -1.,  0.,  1.])");
  bind_shift(m, "ifftshift", fourier::ifftshift, "The inverse of fftshift.",
             ">>> pt.fft.ifftshift([-2.0, -1.0, 0.0, 1.0]).eval()\narray([ 0.,  1., -2., -1.])");
  const auto caller = nb::call_guard<AtCaller>();
  add_function(
      m, "rfft",
      [](const Like& inp, const std::optional<std::string>& norm) {
        return rfft(as_variable(inp), as_norm(norm, "rfft"));
      },
      caller, "inp"_a, "norm"_a = nb::none());
  add_function(
      m, "irfft",
      [](const Like& inp, const std::optional<std::string>& norm, bool is_odd) {
        return irfft(as_variable(inp), as_norm(norm, "irfft"), is_odd);
      },
      caller, "inp"_a, "norm"_a = nb::none(), "is_odd"_a = false);
}

}  // namespace bitale::python
