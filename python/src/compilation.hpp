// function(): from expressions to a compiled function, in one call from Python.
#pragma once

#include <nanobind/nanobind.h>

namespace bitale::python {

namespace nb = nanobind;

// What function() compiles from these keywords.
nb::object compile(const nb::dict& keywords);

void bind_compilation(nb::module_& m);

}  // namespace bitale::python
