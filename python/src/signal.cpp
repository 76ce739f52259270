// Convolutions, for bitale.tensor.signal.
#include "bitale/ops/signal.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "define.hpp"
#include "named_options.hpp"

namespace bitale::python {

ConvolutionMode as_convolution_mode(const std::string& mode, const char* who) {
  if (mode == "full") return ConvolutionMode::Full;
  if (mode == "valid") return ConvolutionMode::Valid;
  if (mode == "same") return ConvolutionMode::Same;
  throw ValueError(cat(who, ": expected mode \"full\", \"valid\" or \"same\", got \"", mode, "\""));
}

void bind_signal(nb::module_& m) {
  const auto caller = nb::call_guard<AtCaller>();
  add_function(
      m, "convolve1d",
      [](const Like& in1, const Like& in2, const std::string& mode) {
        return convolve1d(as_variable(in1), as_variable(in2), as_convolution_mode(mode, "convolve1d"));
      },
      caller, "in1"_a, "in2"_a, "mode"_a = "full");
  add_function(
      m, "convolve2d_direct",
      [](const Like& in1, const Like& in2, const std::string& mode) {
        return convolve2d(as_variable(in1), as_variable(in2), as_convolution_mode(mode, "convolve2d"));
      },
      caller, "in1"_a, "in2"_a, "mode"_a = "full", "convolve2d with zeros around in1, by direct sums.");
  define(
      m, "convolve",
      [](const Like& a, const Like& v, const std::string& mode) {
        return convolve(as_variable(a), as_variable(v), as_convolution_mode(mode, "convolve"));
      },
      "a"_a, "v"_a, "mode"_a = "full",
      R"(>>> pt.convolve([1.0, 2.0, 3.0], [0.0, 1.0, 0.5]).eval()
array([0. , 1. , 2.5, 4. , 1.5]))");
  define(
      m, "correlate",
      [](const Like& a, const Like& v, const std::string& mode) {
        return correlate(as_variable(a), as_variable(v), as_convolution_mode(mode, "correlate"));
      },
      "a"_a, "v"_a, "mode"_a = "valid",
      R"(>>> pt.correlate([1.0, 2.0, 3.0], [0.0, 1.0, 0.5], "full").eval()
array([0.5, 2. , 3.5, 3. , 0. ]))");
}

}  // namespace bitale::python
