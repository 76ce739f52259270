// Linear algebra: factors of matrices, and systems of equations. Names and arguments follow PyTensor's
// (pytensor.tensor.linalg) and SciPy's. The last two dimensions are matrices; those before them are batches, which
// broadcast. float32 is computed in float32, integers and bools in float64. Complex matrices are computed in complex
// numbers; for them, symmetric means Hermitian and transposed means adjoint, unless stated otherwise. ShapeError (a
// ValueError) for matrices that are not square and lengths that don't match: when the node is built, where lengths are
// known, else when the function is called.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/ops/operand.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/search.hpp"

namespace bitale {

// A matrix that is singular, or not positive definite; in Python numpy.linalg.LinAlgError. The message says which
// matrix of a batch failed, and where.
class LinAlgError : public ValueError {
 public:
  explicit LinAlgError(std::string message) : ValueError(std::move(message)) {}
};

// ---- parts of matrices ----------------------------------------------------------------------------------------------

// x, with zeros above (below) diagonal k. A vector stands for the matrix whose rows are all that vector.
Variable tril(const Operand& x, int k = 0);
Variable triu(const Operand& x, int k = 0);
// Diagonal `offset` of the matrices that two axes span; it becomes the last dimension.
Variable diagonal(const Operand& x, int offset = 0, int axis1 = 0, int axis2 = 1);
// The matrix with this vector on diagonal k and zeros elsewhere; for a matrix, its diagonal k.
Variable diag(const Operand& x, int k = 0);
// Ones on diagonal k of an [n, m] matrix; m defaults to n.
Variable eye(const Operand& n, const std::optional<Operand>& m = {}, int k = 0, std::optional<DType> dtype = {});
// The sum of a diagonal.
Variable trace(const Operand& x, int offset = 0, int axis1 = 0, int axis2 = 1);
// Matrices transposed: the last two dimensions exchanged.
Variable matrix_transpose(const Operand& x);

// ---- factors --------------------------------------------------------------------------------------------------------

// What happens to a matrix that is not positive definite, or has a nan: a LinAlgError, or a factor that is all nan.
// RaiseIfFinite, for Cholesky factors: the error, but nan for a matrix that has a nan or an infinity, as in solve.
enum class OnError { Raise, Nan, RaiseIfFinite };
struct CholeskyOptions {
  bool lower = true;  // which triangle of x is read, and which factor it is
  OnError on_error = OnError::Raise;
};
// L with L L^T = x, lower triangular; or U with U^T U = x. Only that triangle of x is read, so the gradient is
// triangular as well (Murray 2016, arXiv:1602.07527).
Variable cholesky(const Operand& x, const CholeskyOptions& options = {});

// Q and R with x = Q R; with `pivoting` also P, with x[:, P] = Q R. Reduced: Q of [m, k], R of [k, n], k
// the smaller of the two; Complete: Q of [m, m], R of [m, n]; R: R alone; Raw: LAPACK's reflections H, their factors
// tau, and R. Derivatives: Walter and Lehmann 2018; none for Raw, and for the Q of Complete only where the matrix is
// known to be square.
enum class QrMode { Complete, Reduced, R, Raw };
struct QrOptions {
  QrMode mode = QrMode::Complete;
  bool pivoting = false;
};
Variables qr(const Operand& x, const QrOptions& options = {});
// x = u diag(s) vt, with s in descending order. Derivatives: Townsend 2016; with full_matrices, those of u and vt only
// for square matrices. For equal singular values: the derivatives of a loss that does not use their vectors, else nan.
struct SingularValues {
  Variable u, s, vt;
};
struct SvdOptions {
  bool full_matrices = true;  // u of [m, m] and vt of [n, n], else of [m, k] and [k, n], k the smaller of the two
};
SingularValues svd(const Operand& x, const SvdOptions& options = {});
Variable svdvals(const Operand& x);
// a v = w v, or a v = w b v with v^T b v = 1, for symmetric a, of which one triangle is read, and positive definite b;
// w ascends. Derivatives: Giles 2008; for equal eigenvalues as for svd. The gradient is a triangle as well.
struct EigenPairs {
  Variable values, vectors;
};
struct EighOptions {
  bool lower = true;  // which triangle of a and b is read
};
EigenPairs eigh(const Operand& a, const std::optional<Operand>& b = {}, const EighOptions& options = {});
Variable eigvalsh(const Operand& a, const std::optional<Operand>& b = {}, const EighOptions& options = {});
// a v = w v for any matrix, complex in general: w and the columns of v, which have length 1, are complex. Derivatives
// exist for the values, and for results that do not depend on the phases of vectors (Boeddeker et al. 2019); nan where
// a loss uses vectors of equal eigenvalues.
EigenPairs eig(const Operand& a);
Variable eigvals(const Operand& a);
// L and U in one matrix, without L's diagonal of ones; row i was exchanged with row pivots[i].
struct LUFactors {
  Variable factors, pivots;
};
LUFactors lu_factor(const Operand& a);
struct LUOptions {
  bool permute_l = false;  // P L and U
  bool p_indices = false;  // p, L and U with a = (L U)[p]
};
// P, L and U with a = P L U.
Variables lu(const Operand& a, const LUOptions& options = {});
// p with (L U)[p] = a; its inverse is the order in which rows were picked.
Variable pivot_to_permutation(const Operand& pivots, const PermutationOptions& options = {});
// a = z upper z^T, where upper is triangular except for 2 x 2 blocks of complex pairs. sort: which
// eigenvalues come first. No derivative.
enum class EigenvalueOrder { Any, LeftHalfPlane, RightHalfPlane, InsideUnitCircle, OutsideUnitCircle };
struct SchurForm {
  Variable upper, z;
};
SchurForm schur(const Operand& x, EigenvalueOrder sort = EigenvalueOrder::Any);

// a = q s z^T and b = q p z^T with orthogonal q and z, s triangular except for 2 x 2 blocks of complex pairs, and p
// triangular; the eigenvalues of a v = w b v are alpha / beta, where alpha is complex. For complex matrices q and z are
// unitary, z^H replaces z^T, s is triangular, and beta is complex. sort: as for schur. No derivative.
struct GeneralizedSchurForm {
  Variable s, p, q, z, alpha, beta;
};
GeneralizedSchurForm qz(const Operand& a, const Operand& b, EigenvalueOrder sort = EigenvalueOrder::Any);

// ---- systems of equations -------------------------------------------------------------------------------------------

struct SolveTriangularOptions {
  bool lower = false;          // which triangle of a is read
  bool trans = false;          // solve a^T x = b
  bool unit_diagonal = false;  // the diagonal of a is ones, and not read
  int b_ndim = 0;              // whether b holds vectors (1) or matrices (2); 0: matrices, if it has two dimensions
  OnError on_error = OnError::Raise;  // for a singular matrix: an error, or a solution that is all nan
};
// x with a x = b, for a triangular a (Giles 2008 for its derivatives). LinAlgError where the diagonal has a 0.
Variable solve_triangular(const Operand& a, const Operand& b, const SolveTriangularOptions& options = {});
// What a matrix is assumed to be: of Symmetric, Hermitian and PositiveDefinite (by Cholesky factors) one triangle is
// read; the band of Banded is found by its zeros.
enum class Assume {
  General,
  Symmetric,
  Hermitian,
  PositiveDefinite,
  Diagonal,
  Tridiagonal,
  Banded,
  LowerTriangular,
  UpperTriangular
};
struct SolveOptions {
  Assume assume_a = Assume::General;
  bool lower = false;                 // with Symmetric, Hermitian and PositiveDefinite: which triangle of a is read
  bool transposed = false;            // solve a^T x = b
  int b_ndim = 0;                     // as above
  OnError on_error = OnError::Raise;  // as above
};
// x with a x = b (Giles 2008 for its derivatives). LinAlgError for a singular matrix; ValueError for another assume_a.
Variable solve(const Operand& a, const Operand& b, const SolveOptions& options = {});
// The inverse. Prefer solve for a system of equations.
Variable inv(const Operand& a);
struct CholeskySolveOptions {
  bool lower = true;  // which triangle of the factor is read
  int b_ndim = 0;     // as above
};
// x with A x = b, given the Cholesky factor of A: two triangular systems.
Variable cho_solve(const Operand& factor, const Operand& b, const CholeskySolveOptions& options = {});
struct LUSolveOptions {
  bool transposed = false;  // solve A^T x = b
  int b_ndim = 0;           // as above
};
// x with A x = b, given the LU factors of A and their pivots.
Variable lu_solve(const Operand& factors, const Operand& pivots, const Operand& b, const LUSolveOptions& options = {});
// x with A x = b, for a tridiagonal A given by its diagonals, by elimination with partial pivoting. LinAlgError for a
// singular one.
Variable solve_tridiagonal(const Operand& lower, const Operand& d, const Operand& upper, const Operand& b,
                           int b_ndim = 0);
// x with A x = b, for an A given by its diagonals, `below` of them below and `above` above the main one: A[i, j] is
// ab[above + i - j, j]. LinAlgError for a singular one.
Variable solve_banded(std::int64_t below, std::int64_t above, const Operand& ab, const Operand& b, int b_ndim = 0);
// LU factors of a tridiagonal matrix, of which the three diagonals are read: the factors below U's diagonal, U's three
// diagonals, and pivots. They have no derivative.
Variables tridiagonal_lu_factor(const Operand& a);
Variables tridiagonal_lu_factor(const Operand& lower, const Operand& d, const Operand& upper);
// x with A x = b, given the results of tridiagonal_lu_factor.
Variable tridiagonal_lu_solve(std::span<const Variable> factors, const Operand& b, const LUSolveOptions& options = {});
// `x` is the solution of least norm that minimizes |a x - b|. It is computed from the singular values, of which those
// up to rcond times the largest count as 0 (negative rcond: max(m, n) eps). `residuals` are the sums of squares of a x
// - b, per column (for one matrix: empty where the rank is not full or there are no more rows than columns, as in
// NumPy; for a batch always given). Derivatives where the rank is constant: Golub and Pereyra 1973.
struct LeastSquares {
  Variable x, residuals, rank, singular_values;
};
LeastSquares lstsq(const Operand& a, const Operand& b, double rcond = -1, int b_ndim = 0);
// x with a x = b as tensordot(a, x, x.ndim): a's first dimensions are b's. `axes` of a are first moved behind all
// others.
Variable tensorsolve(const Operand& a, const Operand& b, const std::vector<int>& axes = {});

// ---- equations of matrices ------------------------------------------------------------------------------------------

// x with a x + x b = q (Bartels and Stewart 1972). LinAlgError where a and -b share an eigenvalue.
Variable solve_sylvester(const Operand& a, const Operand& b, const Operand& q);
// x with a x + x a^T = q.
Variable solve_continuous_lyapunov(const Operand& a, const Operand& q);
// x with a x a^T - x + q = 0. method: "bilinear" (a Sylvester equation) or "direct" (of one matrix: one system of n^2
// equations).
enum class LyapunovMethod { Direct, Bilinear };
Variable solve_discrete_lyapunov(const Operand& a, const Operand& q, LyapunovMethod method = LyapunovMethod::Bilinear);
// The stabilising x with a^T x a - x - a^T x b (r + b^T x b)^-1 b^T x a + q = 0, by doubling. LinAlgError where no
// such x exists.
Variable solve_discrete_are(const Operand& a, const Operand& b, const Operand& q, const Operand& r);

// The stabilising x with a^T x + x a - x b r^-1 b^T x + q = 0, from the stable subspace of the Hamiltonian matrix (Laub
// 1979). LinAlgError where no such x exists. Only the symmetric parts of q and r are used.
Variable solve_continuous_are(const Operand& a, const Operand& b, const Operand& q, const Operand& r);

// ---- products and functions of matrices -----------------------------------------------------------------------------

// The pseudo-inverse; rcond as for lstsq. Derivatives where the rank is constant.
Variable pinv(const Operand& x, double rcond = -1);
// The exponential (Higham 2005).
Variable expm(const Operand& x);
// The product of n matrices m; for a negative n, of inverses of m.
Variable matrix_power(const Operand& m, std::int64_t n);
// The product of matrices, evaluated from left to right.
Variable matrix_dot(const Operands& factors);
// The inverse with respect to tensordot(inverse, a, ind).
Variable tensorinv(const Operand& a, int ind = 2);
// One matrix with these matrices along its diagonal and zeros elsewhere; batch dimensions broadcast.
Variable block_diag(const Operands& matrices);
// NumPy's norms. Without an order: the root of the sum of squares of all elements, or along the axes; else norms of
// vectors along one axis, or of matrices (Frobenius, Nuclear, 1, -1, 2, -2, inf, -inf) along two.
enum class MatrixNorm { Frobenius, Nuclear };
using NormOrder = std::variant<std::monostate, double, MatrixNorm>;
Variable norm(const Operand& x, const NormOrder& ord = {}, const Axes& axes = all_axes,
              KeepDims keepdims = KeepDims::No);

// ---- determinants ---------------------------------------------------------------------------------------------------

// 0 for a singular matrix, which has no derivative: differentiating there raises a LinAlgError.
Variable det(const Operand& a);
struct SignAndLogarithm {
  Variable sign, logabsdet;
};
// The sign of the determinant and the logarithm of its absolute value; 0 and -inf for a singular matrix.
SignAndLogarithm slogdet(const Operand& a);

}  // namespace bitale
