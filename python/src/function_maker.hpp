// Makers of functions in Python: the steps that bitale.compile.maker takes, and modes whose maker is a Python class.
#pragma once

#include <nanobind/nanobind.h>

#include "bitale/compile/mode.hpp"

namespace bitale::python {

namespace nb = nanobind;

// After the class Function.
void bind_function_maker(nb::module_& m);
// What pickle keeps of how a mode (an object of Python) makes functions: None, DebugMode's options as a dict, or a
// Python class with one of these.
nb::object stored_maker(nb::handle mode);

}  // namespace bitale::python
