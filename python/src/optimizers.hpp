// Optimisers, for bitale.optimizers.
#pragma once

#include <nanobind/nanobind.h>

namespace bitale::python {

void bind_optimizers(nanobind::module_& m);

}  // namespace bitale::python
