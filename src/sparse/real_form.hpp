// Systems of complex matrices as real ones of twice the size: A x = b is [[Re A, -Im A], [Im A, Re A]] (Re x, Im x) =
// (Re b, Im b). The real form of a Hermitian positive definite matrix is symmetric positive definite, its determinant
// is the square of A's, and its inverse is the real form of A's inverse. So factors of complex matrices are factors of
// real ones, with all derivatives, at two to four times the cost of complex arithmetic.
#pragma once

#include <vector>

#include "bitale/sparse/matrix.hpp"

namespace bitale::sparse {

// Where the form has the real and the imaginary part of each element that A stores, in its left half: the indices of
// stored elements.
struct RealForm {
  Matrix matrix;
  std::vector<std::int64_t> real, imaginary;
};
RealForm real_form(const Matrix& a);
// Of a matrix of which the lower triangle is read, and on its diagonal the real part. Where the real form of its
// inverse has the real and the imaginary part of each element that A stores: the indices of stored elements; -1 for the
// imaginary part on the diagonal, which is 0.
struct HermitianForm {
  Matrix matrix;
  std::vector<std::int64_t> real, imaginary;
};
HermitianForm hermitian_form(const Matrix& a);
// The elements of A that have these parts, of a vector in the form's pattern.
Variable elements_of_form(const HermitianForm& form, const Variable& data);
// A vector, or the columns of a matrix.
Variable real_form(const Variable& x);
Variable from_real_form(const Variable& x);

}  // namespace bitale::sparse
