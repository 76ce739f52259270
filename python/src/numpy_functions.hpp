// The parts of the extension module that bind NumPy's functions, one function per topic.
#pragma once

#include <nanobind/nanobind.h>

namespace bitale::python {

void bind_elementary(nanobind::module_& m);
void bind_nan_reductions(nanobind::module_& m);
void bind_arrays(nanobind::module_& m);    // joining, sets, orders, choices
void bind_calculus(nanobind::module_& m);  // functions of samples
void bind_networks(nanobind::module_& m);

}  // namespace bitale::python
