// Convolutions, for bitale.tensor.signal.
#include "bitale/ops/signal.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "arguments.hpp"
#include "bind.hpp"
#include "define.hpp"
#include "ops/option_names.hpp"

namespace bitale::python {

void bind_signal(nb::module_& m) {
  const auto caller = nb::call_guard<AtCaller>();
  add_function(
      m, "convolve1d",
      [](const Like& in1, const Like& in2, const std::string& mode) {
        return convolve1d(as_variable(in1), as_variable(in2),
                          option_named<ConvolutionMode>(mode, "convolve1d: expected mode"));
      },
      caller, "in1"_a, "in2"_a, "mode"_a = "full");
  add_function(
      m, "convolve2d_direct",
      [](const Like& in1, const Like& in2, const std::string& mode) {
        return convolve2d(as_variable(in1), as_variable(in2),
                          option_named<ConvolutionMode>(mode, "convolve2d: expected mode"));
      },
      caller, "in1"_a, "in2"_a, "mode"_a = "full", "convolve2d with zeros around in1, by direct sums.");
  define(
      m, "convolve",
      [](const Like& a, const Like& v, const std::string& mode) {
        return convolve(as_variable(a), as_variable(v), option_named<ConvolutionMode>(mode, "convolve: expected mode"));
      },
      "a"_a, "v"_a, "mode"_a = "full",
      R"(>>> pt.convolve([1.0, 2.0, 3.0], [0.0, 1.0, 0.5]).eval()
array([0. , 1. , 2.5, 4. , 1.5]))");
  define(
      m, "correlate",
      [](const Like& a, const Like& v, const std::string& mode) {
        return correlate(as_variable(a), as_variable(v),
                         option_named<ConvolutionMode>(mode, "correlate: expected mode"));
      },
      "a"_a, "v"_a, "mode"_a = "valid",
      R"(>>> pt.correlate([1.0, 2.0, 3.0], [0.0, 1.0, 0.5], "full").eval()
array([0.5, 2. , 3.5, 3. , 0. ]))");
}

}  // namespace bitale::python
