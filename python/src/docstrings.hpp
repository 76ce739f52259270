// Docstrings and signatures of bound and compiled functions.
#pragma once

#include <nanobind/nanobind.h>

namespace bitale::python {

// To be called after all functions have been bound.
void bind_docstrings(nanobind::module_& m);

}  // namespace bitale::python
