// Solutions of differential equations.
#pragma once

#include <nanobind/nanobind.h>

namespace bitale::python {

void bind_integrate(nanobind::module_& m);

}  // namespace bitale::python
