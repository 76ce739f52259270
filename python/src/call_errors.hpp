// Calls that fit no overload of a bound function: the error says which argument is unknown, missing or too many, or of
// which types the arguments are, in the terms of the documentation.
#pragma once

#include <nanobind/nanobind.h>

namespace bitale::python {

// For all functions and methods of the module that are bound so far.
void bind_call_errors(nanobind::module_& m);

}  // namespace bitale::python
