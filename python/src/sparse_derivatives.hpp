// Jacobians and Hessians of which a pattern says which elements may be nonzero.
#pragma once

#include <nanobind/nanobind.h>

#include "bitale/autodiff/sparse.hpp"

namespace bitale::python {

namespace nb = nanobind;

// `sparsity`: a bool matrix, one of scipy.sparse, "auto" or None for the pattern that is found. The result is sparse if
// `sparse`, else dense. TypeError or ValueError for another sparsity.
nb::object jacobian_by_sparsity(const Variable& expression, const Variable& wrt, nb::handle sparsity, bool sparse,
                                const GradOptions& options);
nb::object hessian_by_sparsity(const Variable& cost, const Variable& wrt, nb::handle sparsity, bool sparse,
                               const GradOptions& options);

}  // namespace bitale::python
