// Linear algebra of labelled tensors. `dims` name the rows and the columns of the matrices; all other dimensions are
// batches, which are aligned by names. Results have the batches first. Names, arguments, derivatives and errors of
// values are those of bitale/ops/linalg.hpp; a ValueError is raised for another number of names, for repeated names and
// for names that are not there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bitale/ops/linalg.hpp"
#include "bitale/ops/signal.hpp"
#include "bitale/xtensor/variable.hpp"

namespace bitale::xtensor {

using CoreDims = std::vector<std::string>;

// ---- functions of matrices, and numbers of them ---------------------------------------------------------------------

XVariable cholesky(const XOperand& x, const CoreDims& dims, const CholeskyOptions& options = {});
// The rows of an inverse are the columns of its matrix, and are called so.
XVariable inv(const XOperand& x, const CoreDims& dims);
XVariable pinv(const XOperand& x, const CoreDims& dims, std::optional<double> rcond = {});
XVariable expm(const XOperand& x, const CoreDims& dims);
XVariable matrix_power(const XOperand& x, std::int64_t n, const CoreDims& dims);
XVariable det(const XOperand& x, const CoreDims& dims);
struct SignAndLogarithm {
  XVariable sign, logabsdet;
};
SignAndLogarithm slogdet(const XOperand& x, const CoreDims& dims);
XVariable trace(const XOperand& x, const CoreDims& dims, int offset = 0);
// The diagonal, along a new dimension.
XVariable diagonal(const XOperand& x, const CoreDims& dims, int offset = 0, const Dim& mode = "mode");
XVariable matrix_rank(const XOperand& x, const CoreDims& dims);
// Of vectors for one name, of matrices for two.
XVariable norm(const XOperand& x, const CoreDims& dims, const NormOrder& ord = {});

// ---- decompositions: factors meet in new dimensions, which the function's caller may name

// Eigenvalues along `mode`; eigenvectors along the rows.
struct EigenPairs {
  XVariable values, vectors;
};
EigenPairs eigh(const XOperand& x, const CoreDims& dims, const EighOptions& options = {}, const Dim& mode = "mode");
XVariable eigvalsh(const XOperand& x, const CoreDims& dims, const EighOptions& options = {}, const Dim& mode = "mode");
EigenPairs eig(const XOperand& x, const CoreDims& dims, const Dim& mode = "mode");
XVariable eigvals(const XOperand& x, const CoreDims& dims, const Dim& mode = "mode");
// u(row, mode), s(mode) and vt(mode, column).
struct SingularValues {
  XVariable u, s, vt;
};
SingularValues svd(const XOperand& x, const CoreDims& dims, const Dim& mode = "mode");
XVariable svdvals(const XOperand& x, const CoreDims& dims, const Dim& mode = "mode");
// q(row, mode) and r(mode, column).
struct OrthogonalFactors {
  XVariable q, r;
};
OrthogonalFactors qr(const XOperand& x, const CoreDims& dims, const Dim& mode = "mode");
// p(row, pivot), l(pivot, mode) and u(mode, column). With permute_l: their product p l (row, mode), and u. With
// p_indices p(row) are positions along `pivot`, so that l.isel(pivot=p) is p l.
XVariables lu(const XOperand& x, const CoreDims& dims, const LUOptions& options = {}, const Dim& pivot = "pivot",
              const Dim& mode = "mode");
// Both triangles in one matrix with the dimensions of x, and pivots along the rows.
struct LUFactors {
  XVariable factors, pivots;
};
LUFactors lu_factor(const XOperand& x, const CoreDims& dims);
// Positions along the dimension of pivots.
XVariable pivot_to_permutation(const XOperand& pivots, const CoreDims& dims, const PermutationOptions& options = {});
// x = z upper z^T: upper(mode, mode2) and z(row, mode), where the columns of x take the place of z's rows at its right.
struct SchurForm {
  XVariable upper, z;
};
SchurForm schur(const XOperand& x, const CoreDims& dims, EigenvalueOrder sort = EigenvalueOrder::Any,
                const Dim& mode = "mode", const Dim& mode2 = "mode2");
// a = q s z^T and b = q p z^T: s and p(mode, mode2), q(row, mode) and z(column, mode2), alpha and beta(mode).
struct GeneralizedSchurForm {
  XVariable s, p, q, z, alpha, beta;
};
GeneralizedSchurForm qz(const XOperand& a, const XOperand& b, const CoreDims& dims,
                        EigenvalueOrder sort = EigenvalueOrder::Any, const Dim& mode = "mode",
                        const Dim& mode2 = "mode2");

// ---- systems of equations

// The rows of the matrices are the dimension that `b` lacks, their columns the one that it shares, as in PyTensor, and
// the solution has the former. A third name is that of the columns of `b`, which the matrices lack.
struct SolveOptions {
  Assume assume_a = Assume::General;
  bool lower = false;  // which triangle is read, of those for which one is enough
};
XVariable solve(const XOperand& a, const XOperand& b, const CoreDims& dims, const SolveOptions& options = {});
struct SolveTriangularOptions {
  bool lower = false;          // which triangle of a is read
  bool unit_diagonal = false;  // the diagonal of a is ones, and not read
};
XVariable solve_triangular(const XOperand& a, const XOperand& b, const CoreDims& dims,
                           const SolveTriangularOptions& options = {});
// Given factors, whose rows and columns are the first two names, in this order. `b` has one of them, and the solution
// the other. The pivots have one dimension of their own, that of rows.
struct CholeskySolveOptions {
  bool lower = true;  // which factor it is
};
XVariable cho_solve(const XOperand& factor, const XOperand& b, const CoreDims& dims,
                    const CholeskySolveOptions& options = {});
struct LUSolveOptions {
  bool trans = false;  // solves with the transposed matrix
};
XVariable lu_solve(const XOperand& factors, const XOperand& pivots, const XOperand& b, const CoreDims& dims,
                   const LUSolveOptions& options = {});
// x(column) with the least norm that minimizes |a x - b| for a(row, column) and b(row); a third name is that of the
// columns of `b`. The residuals are always there; the singular values are along `mode`.
struct LeastSquares {
  XVariable x, residuals, rank, singular_values;
};
LeastSquares lstsq(const XOperand& a, const XOperand& b, const CoreDims& dims, std::optional<double> rcond = {},
                   const Dim& mode = "mode");

// ---- signals

// dims: the dimension of x along which it is convolved, and that of y. The result has the former, without coordinates.
XVariable convolve1d(const XOperand& x, const XOperand& y, const CoreDims& dims,
                     ConvolutionMode mode = ConvolutionMode::Full);

}  // namespace bitale::xtensor
