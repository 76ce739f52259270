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

namespace bitale::python {

namespace {

ConvolutionMode as_mode(const std::string& mode, const char* who) {
  if (mode == "full") return ConvolutionMode::Full;
  if (mode == "valid") return ConvolutionMode::Valid;
  if (mode == "same") return ConvolutionMode::Same;
  throw ValueError(cat(who, ": expected mode \"full\", \"valid\" or \"same\", got \"", mode, "\""));
}

}  // namespace

void bind_signal(nb::module_& m) {
  const auto caller = nb::call_guard<AtCaller>();
  add_function(
      m, "convolve1d",
      [](const Like& in1, const Like& in2, const std::string& mode) {
        return convolve1d(as_variable(in1), as_variable(in2), as_mode(mode, "convolve1d"));
      },
      caller, "in1"_a, "in2"_a, "mode"_a = "full");
  add_function(
      m, "convolve2d_direct",
      [](const Like& in1, const Like& in2, const std::string& mode) {
        return convolve2d(as_variable(in1), as_variable(in2), as_mode(mode, "convolve2d"));
      },
      caller, "in1"_a, "in2"_a, "mode"_a = "full", "convolve2d with zeros around in1, by direct sums.");
  define(
      m, "convolve",
      [](const Like& a, const Like& v, const std::string& mode) {
        return convolve(as_variable(a), as_variable(v), as_mode(mode, "convolve"));
      },
      "a"_a, "v"_a, "mode"_a = "full",
      R"(The convolution of two vectors, as numpy.convolve.

Parameters
----------
a : tensor_like
    Vectors. ShapeError for other ranks, and for vectors without elements.
v : tensor_like
    Vectors. ShapeError for other ranks, and for vectors without elements.
mode : {"full", "valid", "same"}
    All n + k - 1 sums; those in which the shorter vector lies entirely within the longer; or as many in the middle as
    the longer one has elements. ValueError for another.

Returns
-------
TensorVariable
    A vector: element i is the sum over j of a[i - j] * v[j].

Examples
--------
>>> pt.convolve([1.0, 2.0, 3.0], [0.0, 1.0, 0.5]).eval()
array([0. , 1. , 2.5, 4. , 1.5]))");
  define(
      m, "correlate",
      [](const Like& a, const Like& v, const std::string& mode) {
        return correlate(as_variable(a), as_variable(v), as_mode(mode, "correlate"));
      },
      "a"_a, "v"_a, "mode"_a = "valid",
      R"(The correlation of two vectors, as numpy.correlate.

Parameters
----------
a : tensor_like
    Vectors. ShapeError for other ranks, and for vectors without elements.
v : tensor_like
    Vectors. ShapeError for other ranks, and for vectors without elements.
mode : {"full", "valid", "same"}
    As of convolve.

Returns
-------
TensorVariable
    A vector: element k is the sum over j of a[j + k] * conj(v[j]).

Examples
--------
>>> pt.correlate([1.0, 2.0, 3.0], [0.0, 1.0, 0.5], "full").eval()
array([0.5, 2. , 3.5, 3. , 0. ]))");
}

}  // namespace bitale::python
