// Sparse matrices: the class SparseVariable and its functions.
#pragma once

#include <nanobind/nanobind.h>

namespace bitale::python {

namespace nb = nanobind;

void bind_sparse(nb::module_& m);
void bind_sparse_linalg(nb::module_& m);  // after bind_sparse

}  // namespace bitale::python
