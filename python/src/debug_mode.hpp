// DebugMode and its errors in Python.
#pragma once

#include <nanobind/nanobind.h>

#include "bitale/compile/mode.hpp"

namespace bitale::python {

namespace nb = nanobind;

// To be called after the class Mode is bound.
void bind_debug_mode(nb::module_& m);
// The options of a DebugMode as a dict; None for another mode.
nb::object stored_debug_options(const Mode& mode);

}  // namespace bitale::python
