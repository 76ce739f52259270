// The argument `device` of functions that make tensors, which the array-API standard has: there is one device.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "arguments.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale::python {

inline void check_device(const Any& device, const char* who) {
  if (device.is_none() || (nb::isinstance<nb::str>(device) && nb::cast<std::string>(device) == "cpu")) return;
  throw ValueError(cat(who, ": expected the device \"cpu\" or None, got ", nb::cast<std::string>(nb::repr(device))));
}

}  // namespace bitale::python
