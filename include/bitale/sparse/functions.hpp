// Functions of sparse matrices. Results are sparse where the stored elements of the result are known from those of the
// arguments. TypeError for other ranks, ShapeError for lengths that don't fit; NotImplementedError, naming what is
// missing, where a pattern would have to be computed when a function is called.
#pragma once

#include <optional>
#include <vector>

#include "bitale/ops/ops.hpp"
#include "bitale/sparse/matrix.hpp"

namespace bitale::sparse {

// ---- conversion -----------------------------------------------------------------------------------------------------
Variable to_dense(const Matrix& a);
// The elements of a matrix that are not 0.
Matrix from_dense(const Operand& x, Format format);

// ---- products -------------------------------------------------------------------------------------------------------
// With a vector, or with the columns of a matrix, or from the left with a vector or the rows of a matrix.
Variable dot(const Matrix& a, const Operand& x);
Variable dot(const Operand& x, const Matrix& a);
Matrix dot(const Matrix& a, const Matrix& b);  // static patterns
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
// x at the stored elements of the pattern: what an elementwise function of two arguments takes.
Variable values_at(const Pattern& pattern, const Operand& x);
// Both with the elements that either stores.
struct Aligned {
  Pattern pattern;
  Variable a, b;
};
Aligned aligned(const Matrix& a, const Matrix& b, std::string_view who);

// ---- arrangement (static patterns) ----------------------------------------------------------------------------------
Matrix square_diagonal(const Operand& diagonal);
// A matrix of blocks, of which some may be absent; each row and each column of blocks has one.
Matrix block(const std::vector<std::vector<std::optional<Matrix>>>& blocks, Format format);
// Rows and columns by their numbers, in this order.
Matrix select(const Matrix& a, const std::vector<std::int64_t>& rows, const std::vector<std::int64_t>& columns);
Variable element(const Matrix& a, const Operand& row, const Operand& column);

}  // namespace bitale::sparse
