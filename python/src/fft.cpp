// Discrete Fourier transforms, for bitale.tensor.fft.
#include "bitale/ops/fft.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "define.hpp"

namespace bitale::python {

namespace {

FourierNorm as_norm(const std::optional<std::string>& norm, const char* who) {
  if (!norm) return FourierNorm::Backward;
  if (*norm == "ortho") return FourierNorm::Ortho;
  if (*norm == "no_norm") return FourierNorm::None;
  throw ValueError(cat(who, ": expected norm None, \"ortho\" or \"no_norm\", got \"", *norm, "\""));
}

}  // namespace

void bind_fft(nb::module_& m) {
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
