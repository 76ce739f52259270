// Functions of sparse matrices. Results are sparse where the stored elements of the result are known from those of the
// arguments: while expressions are built, if the patterns are static, else when a function is called. TypeError for
// other ranks, ShapeError for lengths that don't fit.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "bitale/ops/linalg.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/sparse/matrix.hpp"

namespace bitale::sparse {

// ---- conversion -----------------------------------------------------------------------------------------------------
Variable to_dense(const Matrix& a);
// The elements of a matrix that are not 0.
Matrix from_dense(const Operand& x, Format format);
// A matrix with these elements at these positions, in any order; elements at one position are added. ValueError in a
// call for positions outside the shape.
Matrix from_elements(const Operand& data, const Operand& rows, const Operand& columns,
                     const std::array<Operand, 2>& shape, Format format);

// ---- products -------------------------------------------------------------------------------------------------------
// With a vector, or with the columns of a matrix, or from the left with a vector or the rows of a matrix.
Variable dot(const Matrix& a, const Operand& x);
Variable dot(const Operand& x, const Matrix& a);
Matrix dot(const Matrix& a, const Matrix& b);
// The elements of x @ y.T at the stored elements of the pattern, each multiplied by p's.
Matrix sampling_dot(const Operand& x, const Operand& y, const Matrix& p);

// ---- sums -----------------------------------------------------------------------------------------------------------
// axis: 0, 1, negative ones, or none for both.
Variable sum(const Matrix& a, std::optional<int> axis = {});
Variable diag(const Matrix& a);

// ---- elementwise ----------------------------------------------------------------------------------------------------
Matrix add(const Matrix& a, const Matrix& b);
Matrix sub(const Matrix& a, const Matrix& b);
Matrix mul(const Matrix& a, const Matrix& b);
// x is a scalar, or has up to two dimensions and broadcasts to the matrix. Only the stored elements are multiplied.
Matrix mul(const Matrix& a, const Operand& x);
Matrix true_div(const Matrix& a, const Operand& x);
// The dense sum.
Variable add(const Matrix& a, const Operand& x);
Variable sub(const Matrix& a, const Operand& x);
Variable sub(const Operand& x, const Matrix& a);
// x at the stored elements of the pattern: what an elementwise function of two arguments takes.
Variable values_at(const Pattern& pattern, const Operand& x);
// Both with the elements that either stores.
struct Aligned {
  Pattern pattern;
  Variable a, b;
};
Aligned aligned(const Matrix& a, const Matrix& b, std::string_view who);

// ---- arrangement ----------------------------------------------------------------------------------------------------
Matrix square_diagonal(const Operand& diagonal);
// A matrix of blocks, of which some may be absent; each row and each column of blocks has one.
Matrix block(const std::vector<std::vector<std::optional<Matrix>>>& blocks, Format format);
// Rows (axis 0) or columns (axis 1) by a vector of their numbers, in this order; negative ones count from the end.
// IndexError in a call for one that does not exist.
Matrix take(const Matrix& a, const Operand& positions, int axis);
// The elements up to the diagonal of this number (above the main one if it is positive), or from it on.
Matrix tril(const Matrix& a, std::int64_t offset = 0);
Matrix triu(const Matrix& a, std::int64_t offset = 0);
// Without the stored elements that are 0.
Matrix remove_zeros(const Matrix& a);
// Rows and columns of a static pattern by their numbers, in this order.
Matrix select(const Matrix& a, const std::vector<std::int64_t>& rows, const std::vector<std::int64_t>& columns);
Variable element(const Matrix& a, const Operand& row, const Operand& column);
// The elements at these rows and columns, two vectors.
Variable elements(const Matrix& a, const Operand& rows, const Operand& columns);

// ---- systems --------------------------------------------------------------------------------------------------------
struct SolveTriangularOptions {
  bool lower = true;  // which triangle of the matrix is read
  Trans trans = Trans::none;
  bool unit_diagonal = false;  // the diagonal is ones, and what is stored there isn't read
};
// x with T @ x == b for a triangle T of A, or T.T @ x == b, for a vector or the columns of a matrix. A call raises
// LinAlgError where an element on the diagonal is 0 or not stored.
Variable solve_triangular(const Matrix& a, const Operand& b, const SolveTriangularOptions& options = {});
struct SolveOptions {
  // PositiveDefinite (by Cholesky factors), Symmetric and Hermitian (by LU factors), of which one triangle is read;
  // General (by LU factors), Diagonal, LowerTriangular, UpperTriangular (other elements are not read)
  Assume assume_a = Assume::PositiveDefinite;
  bool lower = true;        // with PositiveDefinite, Symmetric and Hermitian: which triangle is read
  bool transposed = false;  // A.T @ x == b
};
// x with A @ x == b, for a vector or the columns of a matrix. ValueError for any other assume_a; a call raises
// LinAlgError for a singular matrix, and with PositiveDefinite for one that is not positive definite.
Variable solve(const Matrix& a, const Operand& b, const SolveOptions& options = {});

}  // namespace bitale::sparse
