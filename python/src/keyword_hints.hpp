// Calls with a keyword that a bound function does not have: the error names it, and the one that may be meant.
#pragma once

#include <nanobind/nanobind.h>

namespace bitale::python {

// For all functions and methods of the module that are bound so far.
void bind_keyword_hints(nanobind::module_& m);

}  // namespace bitale::python
