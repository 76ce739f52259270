// Linear algebra: factors of matrices, and systems of equations. Names and arguments follow PyTensor's
// (pytensor.tensor.linalg) and SciPy's. The last two dimensions are matrices; those before them are batches, which
// broadcast. float32 is computed in float32, integers and bools in float64. ShapeError (a ValueError) for matrices that
// are not square and lengths that don't fit: now, where lengths are known, else when the function is called.
#pragma once

#include <string>

#include "bitale/core/error.hpp"
#include "bitale/ops/operand.hpp"

namespace bitale {

// A matrix that is singular, or not positive definite; in Python numpy.linalg.LinAlgError. It says which matrix of a
// batch failed, and where.
class LinAlgError : public ValueError {
 public:
  explicit LinAlgError(std::string message) : ValueError(std::move(message)) {}
};

// ---- parts of matrices ----------------------------------------------------------------------------------------------

// x, with zeros above (below) diagonal k. Of a vector: of the matrix whose rows are all that vector.
Variable tril(const Operand& x, int k = 0);
Variable triu(const Operand& x, int k = 0);
// Diagonal `offset` of the matrices of two axes; it becomes the last dimension.
Variable diagonal(const Operand& x, int offset = 0, int axis1 = 0, int axis2 = 1);
// The matrix with this vector on diagonal k, else zeros; or of a matrix, its diagonal k.
Variable diag(const Operand& x, int k = 0);
// Ones on diagonal k of [n, m]; m: n when not given.
Variable eye(const Operand& n, const std::optional<Operand>& m = {}, int k = 0, std::optional<DType> dtype = {});
// The sum of a diagonal.
Variable trace(const Operand& x, int offset = 0, int axis1 = 0, int axis2 = 1);
// Matrices transposed: the last two dimensions exchanged.
Variable matrix_transpose(const Operand& x);

// ---- factors --------------------------------------------------------------------------------------------------------

// What happens to a matrix that is not positive definite, or has a nan: a LinAlgError, or a factor that is all nan.
enum class OnError { Raise, Nan };
// L with L L^T = x, lower triangular; or U with U^T U = x. Only that triangle of x is read, so the gradient is
// triangular as well (Murray 2016, arXiv:1602.07527).
Variable cholesky(const Operand& x, bool lower = true, OnError on_error = OnError::Raise);

// ---- systems of equations -------------------------------------------------------------------------------------------

struct SolveTriangularOptions {
  bool lower = false;          // which triangle of a is read
  bool trans = false;          // of a^T x = b
  bool unit_diagonal = false;  // the diagonal of a is ones, and not read
  int b_ndim = 0;              // whether b is of vectors (1) or matrices (2); 0: matrices, if it has two dimensions
};
// x with a x = b, for a triangular a (Giles 2008 for its derivatives). LinAlgError where the diagonal has a 0.
Variable solve_triangular(const Operand& a, const Operand& b, const SolveTriangularOptions& options = {});
struct SolveOptions {
  // "gen", "pos" (by Cholesky factors; one triangle is read), "lower triangular", "upper triangular"
  std::string assume_a = "gen";
  bool lower = false;       // with "pos": which triangle of a is read
  bool transposed = false;  // of a^T x = b
  int b_ndim = 0;           // as above
};
// x with a x = b (Giles 2008 for its derivatives). LinAlgError for a singular matrix; NotImplementedError for another
// kind than those.
Variable solve(const Operand& a, const Operand& b, const SolveOptions& options = {});
// The inverse. A system of equations is better solved.
Variable inv(const Operand& a);
// x with A x = b, given the Cholesky factor of A: two triangular systems. b_ndim as above.
Variable cho_solve(const Operand& factor, bool lower, const Operand& b, int b_ndim = 0);

// ---- determinants ---------------------------------------------------------------------------------------------------

// 0 of a singular matrix, of which there is no derivative: a LinAlgError.
Variable det(const Operand& a);
struct SignAndLogarithm {
  Variable sign, logabsdet;
};
// The sign of the determinant and the logarithm of its absolute value; 0 and -inf of a singular matrix.
SignAndLogarithm slogdet(const Operand& a);

}  // namespace bitale
