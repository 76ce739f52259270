// Makers of functions in Python: the steps that bitale.compile.maker uses, and modes whose maker is a Python class.
#pragma once

#include <nanobind/nanobind.h>

#include "bitale/compile/mode.hpp"

namespace bitale::python {

namespace nb = nanobind;

// To be called after the class Function is bound.
void bind_function_maker(nb::module_& m);
// How a mode (a Python object) makes functions, in a form that can be pickled: None, DebugMode's options as a dict, or
// a Python class with one of these.
nb::object stored_maker(nb::handle mode);

}  // namespace bitale::python
