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
#include "device.hpp"
#include "flag.hpp"
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
void bind_line(nb::module_& m, const char* name, Line function, const char* example) {
  const char* const who = public_name(name);
  add_function(
      m, name,
      [function, who](const Like& a, const Any& n, int axis, const std::optional<std::string>& norm) {
        return function(as_variable(a), {.n = optional_operand(n), .axis = axis, .norm = as_numpy_norm(norm, who)});
      },
      nb::call_guard<AtCaller>(), "a"_a, "n"_a = nb::none(), "axis"_a = -1, "norm"_a = nb::none(), example);
}

std::optional<std::vector<Operand>> lengths_of_axes(const Any& s, const char* who) {
  if (s.is_none()) return {};
  std::vector<Operand> out;
  for (const Variable& each : as_lengths(nb::borrow<ShapeLike>(s), cat(who, ": s"))) out.push_back(each);
  return out;
}

using Grid = Variable (*)(const Operand&, const fourier::GridOptions&);
void bind_grid(nb::module_& m, const char* name, Grid function, bool is_two_dimensional, const char* example) {
  const nb::object axes = is_two_dimensional ? nb::object(nb::make_tuple(-2, -1)) : nb::object(nb::none());
  add_function(
      m, name,
      [function, name](const Like& a, const Any& s, const AxisLike& axes, const std::optional<std::string>& norm) {
        return function(
            as_variable(a),
            {.s = lengths_of_axes(s, name), .axes = as_axes(axes, name), .norm = as_numpy_norm(norm, name)});
      },
      nb::call_guard<AtCaller>(), "a"_a, "s"_a = nb::none(), "axes"_a.none() = axes, "norm"_a = nb::none(), example);
}

void bind_transforms_along_one_axis(nb::module_& m) {
  bind_line(m, "fft", fourier::fft,
            ">>> pt.fft.fft([1.0, 0.0, 0.0, 0.0]).eval()\narray([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])");
  bind_line(m, "ifft", fourier::ifft,
            ">>> pt.fft.ifft([4.0, 0.0, 0.0, 0.0]).eval()\narray([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])");
  bind_line(m, "_rfft", fourier::rfft,
            ">>> bt.array_api.fft.rfft(pt.constant([1.0, 0.0, 0.0, 0.0])).eval()\narray([1.+0.j, 1.+0.j, 1.+0.j])");
  bind_line(m, "_irfft", fourier::irfft,
            ">>> bt.array_api.fft.irfft(pt.constant([1.0, 1.0, 1.0])).eval()\narray([1., 0., 0., 0.])");
  bind_line(m, "hfft", fourier::hfft, ">>> pt.fft.hfft([1.0, 2.0, 3.0]).eval()\narray([ 8., -2.,  0., -2.])");
  bind_line(m, "ihfft", fourier::ihfft, ">>> pt.fft.ihfft([8.0, -2.0, 0.0, -2.0]).eval().real\narray([1., 2., 3.])");
}

void bind_grids(nb::module_& m) {
  bind_grid(m, "fft2", fourier::fft2, true,
            ">>> pt.fft.fft2(np.eye(2)).eval().real\narray([[2., 0.],\n       [0., 2.]])");
  bind_grid(m, "ifft2", fourier::ifft2, true,
            ">>> pt.fft.ifft2(2 * np.eye(2)).eval().real\narray([[1., 0.],\n       [0., 1.]])");
  bind_grid(m, "rfft2", fourier::rfft2, true, ">>> pt.fft.rfft2(np.eye(3)).eval().shape\n(3, 2)");
  bind_grid(m, "irfft2", fourier::irfft2, true,
            ">>> pt.fft.irfft2(pt.fft.rfft2(np.eye(2))).eval()\narray([[1., 0.],\n       [0., 1.]])");
  bind_grid(m, "fftn", fourier::fftn, false,
            ">>> pt.fft.fftn(np.ones((2, 2))).eval().real\narray([[4., 0.],\n       [0., 0.]])");
  bind_grid(m, "ifftn", fourier::ifftn, false,
            ">>> pt.fft.ifftn(np.ones((2, 2))).eval().real\narray([[1., 0.],\n       [0., 0.]])");
  bind_grid(m, "rfftn", fourier::rfftn, false, ">>> pt.fft.rfftn(np.ones((2, 4))).eval().shape\n(2, 3)");
  bind_grid(m, "irfftn", fourier::irfftn, false,
            ">>> pt.fft.irfftn(pt.fft.rfftn(np.ones((2, 4)))).eval().shape\n(2, 4)");
}

using Frequencies = Variable (*)(const Operand&, const Operand&, std::optional<DType>);
void bind_frequencies(nb::module_& m, const char* name, Frequencies function, const char* example) {
  add_function(
      m, name,
      [function, name](const Like& n, const Like& d, const DTypeLike& dtype, const Any& device) {
        check_device(device, name);
        return function(as_variable(n), as_variable(d), optional_dtype(dtype));
      },
      nb::call_guard<AtCaller>(), "n"_a, "d"_a = 1.0, nb::kw_only(), "dtype"_a = nb::none(), "device"_a = nb::none(),
      example);
}

using Shifting = Variable (*)(const Operand&, const Axes&);
void bind_shift(nb::module_& m, const char* name, Shifting function, const char* example) {
  add_function(
      m, name,
      [function, name](const Like& x, const AxisLike& axes) { return function(as_variable(x), as_axes(axes, name)); },
      nb::call_guard<AtCaller>(), "x"_a, "axes"_a.none() = nb::none(), example);
}

}  // namespace

void bind_fft(nb::module_& m) {
  bind_transforms_along_one_axis(m);
  bind_grids(m);
  bind_frequencies(m, "fftfreq", fourier::fftfreq, ">>> pt.fft.fftfreq(4).eval()\narray([ 0.  ,  0.25, -0.5 , -0.25])");
  bind_frequencies(m, "rfftfreq", fourier::rfftfreq, ">>> pt.fft.rfftfreq(4).eval()\narray([0.  , 0.25, 0.5 ])");
  bind_shift(m, "fftshift", fourier::fftshift,
             ">>> pt.fft.fftshift([0.0, 1.0, -2.0, -1.0]).eval()\narray([-2., -1.,  0.,  1.])");
  bind_shift(m, "ifftshift", fourier::ifftshift,
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
      [](const Like& inp, const std::optional<std::string>& norm, Flag is_odd) {
        return irfft(as_variable(inp), {.norm = as_norm(norm, "irfft"), .is_odd = is_odd});
      },
      caller, "inp"_a, "norm"_a = nb::none(), "is_odd"_a = false);
}

}  // namespace bitale::python
