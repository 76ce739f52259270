// The real form of a complex sparse matrix: each element is a block [[re, -im], [im, re]] of a real matrix of twice the
// length. Sums, products, inverses and factors of real forms are real forms of those of the complex matrices.
#pragma once

#include "bitale/graph/variable.hpp"

namespace bitale {

// Where it has the elements of a matrix in compressed columns: its own columns, the indices of its elements' values in
// the vector of real parts, imaginary ones, these negated, and a 0, and the indices of each element's real and
// imaginary part in the vector of the form's elements and a 0.
struct RealForm {
  Variable bounds, rows, source, real, imaginary;
};
// `is_triangle`: of a lower triangle with real numbers on its diagonal, which come first in their columns: the form is
// a lower triangle, too. Constants for constants; ValueError in a call for bounds that don't ascend to the number of
// rows.
RealForm sparse_real_form(const Variable& bounds, const Variable& rows, bool is_triangle);

}  // namespace bitale
