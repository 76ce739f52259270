// Values of complex matrices, vectors and the columns of matrices in the real form (ops/sparse/real_form.hpp), by which
// systems with complex matrices are real ones of twice the length, with all derivatives, at two to four times the cost
// of complex arithmetic. The real form of a Hermitian positive definite matrix is symmetric positive definite, that of
// its Cholesky factor is its own Cholesky factor, and its determinant is the square of A's.
#pragma once

#include "bitale/graph/variable.hpp"
#include "ops/sparse/real_form.hpp"

namespace bitale::sparse {

// The form's elements, and inversely.
Variable in_real_form(const Variable& data, const RealForm& form);
Variable from_real_form(const Variable& data, const RealForm& form);
// Rows re, im, re, im, ... of a vector or a matrix, and inversely.
Variable interleaved(const Variable& x);
Variable from_interleaved(const Variable& x);

}  // namespace bitale::sparse
