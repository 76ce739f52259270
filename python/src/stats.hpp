// Log densities and constraint transforms.
#pragma once

#include <nanobind/nanobind.h>

namespace bitale::python {

void bind_stats(nanobind::module_& m);

}  // namespace bitale::python
