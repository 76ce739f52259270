// Copies of compiled functions, and their pickles: the arguments of function() again, changed or not.
#pragma once

#include <nanobind/nanobind.h>

namespace bitale::python {

void bind_function_copies(nanobind::module_& m);

}  // namespace bitale::python
