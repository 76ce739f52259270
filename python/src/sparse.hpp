// Sparse matrices: the class SparseVariable and its functions.
#pragma once

#include <nanobind/nanobind.h>

#include "bitale/sparse/matrix.hpp"

namespace bitale::python {

namespace nb = nanobind;

// The sparse matrix that the object is, or nothing.
const sparse::Matrix* matrix_in(nb::handle object);

void bind_sparse(nb::module_& m);
void bind_sparse_linalg(nb::module_& m);  // after bind_sparse

}  // namespace bitale::python
