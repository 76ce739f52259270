// Linear algebra, Fourier transforms and convolutions, as the reference describes them.
#include "reference/reference.hpp"

namespace bitale::python {

// clang-format off
static const RegisterDescriptions linalg(R"doc(
= cholesky
Cholesky factor of positive definite matrices.
x: Matrix, or batch of matrices, of shape (..., n, n); only the triangle that `lower` names is read.
lower: Compute the lower triangular factor L with ``L @ L.T == x``; otherwise the upper one U with ``U.T @ U == x``.
overwrite_a: Accepted for compatibility with SciPy: memory is reused if nothing else reads it.
on_error ({'raise', 'nan'}): What to do if a matrix is not positive definite: raise an error, or return a factor of nan.
upper: Compute the upper triangular factor, as ``lower=False`` does.
-> Factors, of the shape and dtype of `x`; zeros in the other triangle.
! LinAlgError: at run time, if a matrix is not positive definite or has a nan, and `on_error` is ``'raise'``.
! ValueError: if the matrices are not square.
~ cho_solve, solve, lu
* Derivatives: Murray (2016), *Differentiation of the Cholesky decomposition*, arXiv:1602.07527.

= cho_solve
Solve linear systems, given Cholesky factors of their matrices.
c_and_lower (tuple): The factor and whether it is the lower one.
b: Right-hand sides.
-> Solutions x of ``A @ x == b``, of the shape of `b` with broadcast batch dimensions.
~ cholesky, solve

= solve
Solve linear systems of equations.
a: Matrices, of shape (..., n, n).
b: Right-hand sides: vectors (..., n) or matrices (..., n, k), according to `b_ndim`.
lower: Whether the lower triangle is read, if `assume_a` implies that only one is.
assume_a: Structure of `a`: ``'gen'`` and ``'banded'`` (LU factors), ``'sym'`` and ``'her'`` (LU factors of the matrix given by one triangle), ``'pos'`` (Cholesky factors), ``'diagonal'``, ``'tridiagonal'``, ``'lower triangular'`` or ``'upper triangular'``.
transposed: Solve ``a.T @ x == b``.
on_error ({'raise', 'nan'}): What to do if a matrix is singular: raise an error, or return a solution of nan.
-> Solutions x of ``a @ x == b``; batch dimensions are broadcast.
! LinAlgError: at run time, if a matrix is singular and `on_error` is ``'raise'``.
! ValueError: if lengths do not fit.
~ solve_triangular, lstsq, inv, assume

= solve_triangular
Solve triangular linear systems of equations.
a: Matrices, of shape (..., n, n); only the triangle that `lower` names is read.
b: Right-hand sides: vectors (..., n) or matrices (..., n, k), according to `b_ndim`.
trans ({0, 1, 2, 'N', 'T', 'C'}): Solve ``a @ x == b``, ``a.T @ x == b`` or ``a.conj().T @ x == b``.
unit_diagonal: Assume that the diagonal consists of ones.
on_error ({'raise', 'nan'}): What to do if the diagonal has a 0: raise an error, or return a solution of nan.
-> Solutions, of the shape of `b` with broadcast batch dimensions.
! LinAlgError: at run time, if the diagonal has a 0 and `on_error` is ``'raise'``.
! ValueError: if lengths do not fit.
~ solve, cho_solve

= solve_banded
Solve linear systems of equations with banded matrices.
l_and_u (tuple of int): Numbers of diagonals below and above the main one.
ab: Diagonals as rows: ``a[i, j] == ab[u + i - j, j]``.
b: Right-hand sides.
overwrite_ab: Accepted for compatibility with SciPy.
-> Solutions x of ``a @ x == b``, computed in linear time.
~ solve, solve_tridiagonal

= solve_tridiagonal
Solve linear systems of equations with tridiagonal matrices.
dl: Diagonals below the main one, of shape (..., n - 1).
d: Main diagonals, of shape (..., n).
du: Diagonals above the main one, of shape (..., n - 1).
b: Right-hand sides.
-> Solutions x of ``a @ x == b``, computed in linear time.
~ solve_banded, tridiagonal_lu_factor

= tridiagonal_lu_factor
LU factors of tridiagonal matrices.
@ def tridiagonal_lu_factor(a: TensorVariable | numpy.typing.ArrayLike) -> tuple[TensorVariable, ...]
a: Matrices, of shape (..., n, n), of which the three diagonals are read.
-> tuple of TensorVariable: Multipliers, the diagonal of U, the one above it, the one above that, and pivots, as `tridiagonal_lu_solve` takes them.
~ tridiagonal_lu_solve
* The factors have no derivative.

= tridiagonal_lu_solve
Solve linear systems, given LU factors of tridiagonal matrices.
a_diagonals (tuple of TensorVariable): Result of `tridiagonal_lu_factor`.
b: Right-hand sides.
transposed: Solve ``a.T @ x == b``.
-> Solutions x of ``a @ x == b``.
~ tridiagonal_lu_factor
* There are only derivatives with respect to `b`.

= inv
Inverse of matrices.
x: Matrices, of shape (..., n, n).
-> Inverses, of the shape of `x`.
! LinAlgError: at run time, if a matrix is singular.
~ solve, pinv

= pinv
Moore-Penrose pseudo-inverse of matrices.
x: Matrices, of shape (..., m, n).
hermitian: Accepted for compatibility with NumPy.
rtol (tensor_like): Singular values up to this factor times the largest are treated as 0; one for each matrix, or one for all. By default ``max(m, n) * eps``.
-> Pseudo-inverses, of shape (..., n, m).
~ inv, lstsq, matrix_rank
* Derivatives, where the rank is constant: Golub and Pereyra (1973).

= svdvals
Singular values of matrices.
x: Matrices, of shape (..., m, n).
-> Singular values in descending order, of shape (..., min(m, n)).
~ svd, matrix_rank

= vector_norm
Norm of vectors along axes.
axis: Axes of the vectors; by default all elements are one vector.
ord: Order: a number; infinite for the largest absolute value, and 0 for the number of nonzero elements.
-> Norms, of the shape of `x` without the axes.
~ norm, matrix_norm

= matrix_norm
Norm of matrices.
x: Matrices, of shape (..., m, n).
ord ({'fro', 'nuc', 1, -1, 2, -2, inf, -inf}): Kind of norm.
-> Norms, of shape (...).
~ norm, vector_norm

= matrix_rank
Rank of matrices, by singular values.
A: Matrices, of shape (..., m, n); for vectors and scalars, the rank is whether an element is not 0.
tol (tensor_like): Singular values up to this are treated as 0; one for each matrix, or one for all.
hermitian: Accepted for compatibility with NumPy.
rtol (tensor_like): The same, as a factor of the largest singular value; by default ``max(m, n) * eps``.
-> Ranks, int64, of shape (...).
! ValueError: if both `tol` and `rtol` are given.
~ svd, pinv

= det
Determinant of matrices.
x: Matrices, of shape (..., n, n).
-> Determinants, of shape (...).
! LinAlgError: at run time, if the gradient is requested at a singular matrix.
~ slogdet

= slogdet
Sign and logarithm of the determinant of matrices.
x: Matrices, of shape (..., n, n).
-> sign: Signs of the determinants, 0 for singular matrices.
-> logabsdet: Logarithms of their absolute values, -inf for singular matrices.
~ det

= lu
LU decomposition of matrices.
@ def lu(a: TensorVariable | numpy.typing.ArrayLike, permute_l: typing.Literal[False] = False, check_finite: bool = True, p_indices: bool = False, overwrite_a: bool = False) -> tuple[TensorVariable, TensorVariable, TensorVariable]
@ def lu(a: TensorVariable | numpy.typing.ArrayLike, permute_l: typing.Literal[True], check_finite: bool = True, p_indices: bool = False, overwrite_a: bool = False) -> tuple[TensorVariable, TensorVariable]
@ def lu(a: TensorVariable | numpy.typing.ArrayLike, permute_l: bool = False, check_finite: bool = True, p_indices: bool = False, overwrite_a: bool = False) -> tuple[TensorVariable, ...]
a: Matrices, of shape (..., m, n).
permute_l: Return ``P @ L`` in place of `P` and `L`.
p_indices: Return the permutation as a vector p of indices, ``a == (L @ U)[p]``.
-> tuple of TensorVariable: ``(P, L, U)`` with ``a == P @ L @ U``, depending on the options.
~ lu_factor, qr

= lu_factor
LU decomposition of matrices in packed form.
a: Matrices, of shape (..., n, n).
-> LU: Both factors in one matrix, without the unit diagonal of L.
-> pivots: Int32 vectors: row i was exchanged with row ``pivots[i]``.
~ lu_solve, pivot_to_permutation

= lu_solve
Solve linear systems, given LU factors of their matrices.
LU_and_pivots (tuple of TensorVariable): Result of `lu_factor`.
b: Right-hand sides.
trans ({0, 1, 2, 'N', 'T', 'C'}): Solve ``a @ x == b``, ``a.T @ x == b`` or ``a.conj().T @ x == b``.
-> Solutions x of ``a @ x == b``.
~ lu_factor, solve

= pivot_to_permutation
Convert pivots of an LU decomposition to a permutation.
p: Pivots from `lu_factor`.
inverse: Return the inverse permutation.
-> Vector of indices, p with ``(L @ U)[p] == a``.
~ lu_factor

= qr
QR decomposition of matrices.
@ def qr(A: TensorVariable | numpy.typing.ArrayLike, mode: typing.Literal['full', 'complete', 'economic', 'reduced'] = 'full', overwrite_a: bool = False, pivoting: typing.Literal[False] = False, lwork: int | None = None) -> tuple[TensorVariable, TensorVariable]
@ def qr(A: TensorVariable | numpy.typing.ArrayLike, mode: typing.Literal['r'], overwrite_a: bool = False, pivoting: typing.Literal[False] = False, lwork: int | None = None) -> TensorVariable
@ def qr(A: TensorVariable | numpy.typing.ArrayLike, mode: str = 'full', overwrite_a: bool = False, pivoting: bool = False, lwork: int | None = None) -> typing.Any
A: Matrices, of shape (..., m, n).
mode: ``'full'`` or ``'complete'`` (square Q), ``'economic'`` or ``'reduced'``, ``'r'`` (only R), or ``'raw'`` (LAPACK's reflectors, their factors, and R).
pivoting: Permute columns so that the diagonal of R does not increase: ``A[:, P] == Q @ R``.
lwork (int): Accepted for compatibility with SciPy.
-> tuple of TensorVariable: ``(Q, R)`` with ``A == Q @ R``, or ``(Q, R, P)``, depending on `mode` and `pivoting`.
~ svd, lstsq
* Derivatives: Walter and Lehmann (2018). Mode ``'raw'`` has none, and a full Q has them only for matrices known to be square.

= svd
Singular value decomposition of matrices.
@ def svd(a: TensorVariable | numpy.typing.ArrayLike, full_matrices: bool = True, compute_uv: typing.Literal[True] = True) -> tuple[TensorVariable, TensorVariable, TensorVariable]
@ def svd(a: TensorVariable | numpy.typing.ArrayLike, full_matrices: bool = True, *, compute_uv: typing.Literal[False]) -> TensorVariable
@ def svd(a: TensorVariable | numpy.typing.ArrayLike, full_matrices: bool = True, compute_uv: bool = True) -> typing.Any
a: Matrices, of shape (..., m, n).
full_matrices: Return square U and Vt.
compute_uv: Return U and Vt, not just the singular values.
-> tuple of TensorVariable: ``(U, s, Vt)`` with ``a == (U * s) @ Vt`` and decreasing s; or only s.
~ eigh, qr, pinv
* Derivatives: Townsend (2016). At equal singular values they are nan if the loss uses their vectors; with ``full_matrices=True`` they exist only for matrices known to be square.

= eig
Eigenvalues and right eigenvectors of matrices.
x: Matrices, of shape (..., n, n).
-> w: Eigenvalues, complex, of shape (..., n).
-> v: Eigenvectors of unit length, in columns: ``x @ v == v * w``.
~ eigvals, eigh
* Derivatives (Boeddeker et al. 2019) of w, and of functions that do not depend on the phases of the eigenvectors.

= eigvals
Eigenvalues of matrices.
a: Matrices, of shape (..., n, n).
-> Eigenvalues, complex, of shape (..., n).
~ eig, eigvalsh

= eigh
Eigenvalues and eigenvectors of symmetric or Hermitian matrices.
a: Matrices, of shape (..., n, n), of which one triangle is read.
b (tensor_like): Positive definite matrices of a generalised problem.
UPLO: NumPy's form of `lower`, ``'L'`` or ``'U'``; if given, it takes precedence.
driver (str): Accepted for compatibility with SciPy.
-> w: Eigenvalues in increasing order, of shape (..., n).
-> v: Eigenvectors, in columns: ``a @ v == v * w``, or ``a @ v == b @ v * w``.
~ eigvalsh, eig, svd
* Derivatives: Giles (2008). At equal eigenvalues they are nan if the loss uses their vectors. The gradient is a triangle, since only that triangle is read.

= eigvalsh
Eigenvalues of symmetric or Hermitian matrices.
a: Matrices, of shape (..., n, n), of which one triangle is read.
b (tensor_like): Positive definite matrices of a generalised problem.
-> Eigenvalues in increasing order, of shape (..., n).
~ eigh

= schur
Schur decomposition of matrices.
output: ``'real'`` (blocks of 2 by 2 for pairs of complex eigenvalues) or ``'complex'``.
sort: Which eigenvalues come first: ``'lhp'``, ``'rhp'``, ``'iuc'`` or ``'ouc'``, the half planes and the inside and outside of the unit circle.
-> T: (Quasi-)triangular matrices.
-> Z: Unitary matrices with ``A == Z @ T @ Z.conj().T``.
~ qz, eig
* It has no derivative.

= qz
Generalised Schur decomposition of pairs of matrices.
@ def qz(A: TensorVariable | numpy.typing.ArrayLike, B: TensorVariable | numpy.typing.ArrayLike, output: str = 'real', sort: str | None = None, return_eigenvalues: bool = False) -> tuple[TensorVariable, ...]
B: Matrices, of shape (..., n, n).
output: ``'real'`` (blocks of 2 by 2 for pairs of complex eigenvalues) or ``'complex'``.
sort: Which eigenvalues come first: ``'lhp'``, ``'rhp'``, ``'iuc'`` or ``'ouc'``.
return_eigenvalues: Also return alpha and beta; the eigenvalues are ``alpha / beta``.
-> tuple of TensorVariable: ``(S, P, Q, Z)`` or ``(S, P, alpha, beta, Q, Z)`` with ``A == Q @ S @ Z.conj().T`` and ``B == Q @ P @ Z.conj().T``.
~ schur, ordqz
* It has no derivative.

= expm
Matrix exponential.
a: Matrices, of shape (..., n, n).
-> Exponentials, of the shape of `a`.
~ matrix_power
* Scaling and squaring with Padé approximants: Higham (2005).

= matrix_power
Integer power of matrices.
M: Matrices, of shape (..., n, n).
n: Exponent; negative ones invert the matrix.
-> ``M @ M @ ... @ M``.
~ expm, inv

= matrix_dot
Product of several matrices.
args (tensor_like): Matrices, multiplied from the left.
-> Product.
~ dot, matmul

= norm
Norm of vectors or matrices.
ord (float or str): Order: any number for vectors; ``'fro'``, ``'nuc'``, 1, -1, 2, -2, inf or -inf for matrices.
axis (int or pair of int): Axis of the vectors, or axes of the matrices. By default of all elements.
-> Norms, as ``numpy.linalg.norm``.
~ svd

= lstsq
Least-squares solution of linear systems.
x: Matrix of coefficients, of shape (..., m, n).
y: Right-hand sides: a vector or matrix; matrices for a batch.
rcond: Singular values below `rcond` times the largest are treated as 0.
-> tuple of TensorVariable: The solution with the smallest norm, the sums of squared residuals, the rank of `x`, and its singular values, as ``numpy.linalg.lstsq``.
~ solve, pinv
* Derivatives, where the rank is constant: Golub and Pereyra (1973).

= tensorinv
Inverse of a tensor with respect to `tensordot`.
a: Tensor for which the product of the first `ind` lengths equals that of the others.
ind: Number of leading dimensions.
-> Inverse, as ``numpy.linalg.tensorinv``.
~ tensorsolve, inv

= tensorsolve
Solve ``tensordot(a, x, x.ndim) == b`` for x.
a: Tensor of coefficients.
b: Right-hand side.
axes (sequence of int): Axes of `a` to move to the end first.
-> Solution, as ``numpy.linalg.tensorsolve``.
~ tensorinv, solve

= block_diag
Block diagonal matrix.
matrices (tensor_like): Blocks; batch dimensions are broadcast.
-> Matrices with the blocks on the diagonal and zeros elsewhere.
~ diag

= solve_sylvester
Solve the Sylvester equation ``A @ x + x @ B == Q``.
A: Matrices, of shape (..., m, m).
B: Matrices, of shape (..., n, n).
Q: Right-hand sides, of shape (..., m, n).
-> Solutions, of the shape of `Q`.
! LinAlgError: at run time, if `A` and ``-B`` share an eigenvalue.
~ solve_continuous_lyapunov
* Bartels and Stewart (1972).

= solve_continuous_lyapunov
Solve the continuous Lyapunov equation ``A @ x + x @ A.conj().T == Q``.
Q: Right-hand sides, of shape (..., n, n).
-> Solutions, of the shape of `Q`.
~ solve_sylvester, solve_discrete_lyapunov

= solve_discrete_lyapunov
Solve the discrete Lyapunov equation ``A @ x @ A.conj().T - x + Q == 0``.
Q: Constant terms, of shape (..., n, n).
method: ``'bilinear'`` (by a Sylvester equation) or ``'direct'`` (by one system of all elements).
-> Solutions, of the shape of `Q`.
~ solve_continuous_lyapunov

= solve_continuous_are
Solve the continuous algebraic Riccati equation.
B: Matrices, of shape (..., n, k).
Q: Symmetric matrices, of shape (..., n, n).
R: Symmetric invertible matrices, of shape (..., k, k).
-> Stabilising solutions x of ``A.T @ x + x @ A - x @ B @ inv(R) @ B.T @ x + Q == 0``.
! LinAlgError: at run time, if there is none.
~ solve_discrete_are
* From the stable subspace of the Hamiltonian matrix: Laub (1979). Derivatives: Kao and Hennequin (2020); only the symmetric parts of `Q` and `R` matter.

= solve_discrete_are
Solve the discrete algebraic Riccati equation.
B: Matrices, of shape (..., n, k).
Q: Symmetric matrices, of shape (..., n, n).
R: Symmetric matrices, of shape (..., k, k).
enforce_Q_symmetric: Replace `Q` by its symmetric part.
-> Stabilising solutions x of ``A.T @ x @ A - x - A.T @ x @ B @ inv(R + B.T @ x @ B) @ B.T @ x @ A + Q == 0``.
! LinAlgError: at run time, if there is none.
~ solve_continuous_are
* By doubling: Chu, Fan, Lin and Wang (2004). Derivatives: Kao and Hennequin (2020).

= rfft
Discrete Fourier transform of real input.
inp: Real tensor [m, ..., n], whose first dimension is a batch dimension.
norm: None (the inverse is divided by the number of elements), ``'ortho'`` (both are divided by its square root) or ``'no_norm'`` (neither is divided).
-> Tensor [m, ..., n // 2 + 1, 2] with real and imaginary parts in the last dimension: float32 for float32, otherwise float64.
~ irfft

= irfft
Inverse of `rfft`.
inp: Tensor [m, ..., k, 2] with real and imaginary parts in the last dimension.
norm: As in `rfft`.
is_odd: Whether the last length n is odd.
-> Real tensor [m, ..., n], where n is ``2 * (k - 1)``, or one more.
~ rfft

= convolve1d
One-dimensional convolution.
in1: First operand, of shape (..., n).
in2: Second operand, of shape (..., k).
mode: ``'full'`` gives all n + k - 1 elements, ``'valid'`` the max(n, k) - min(n, k) + 1 elements for which no operand is extended with zeros, ``'same'`` the n in the middle.
-> Convolution along the last dimension, of the common dtype (int64 for bool); batch dimensions are broadcast.
~ convolve2d

= beta
Beta function.
a: First parameter.
b: Second parameter.
-> ``gamma(a) * gamma(b) / gamma(a + b)``, of the broadcast shape.
~ betaln, gamma

= betaln
Logarithm of the absolute value of the beta function.
a: First parameter.
b: Second parameter.
-> ``gammaln(a) + gammaln(b) - gammaln(a + b)``, without cancellation.
~ beta, gammaln

= factorial
Factorial function.
n: Numbers.
-> ``gamma(n + 1)``, which is n! for integers.
~ gamma, poch

= poch
Pochhammer symbol.
z: Base.
m: Number of factors.
-> ``gamma(z + m) / gamma(z)``, of the broadcast shape.
~ factorial, gamma

= xlogx
Product of a number and its logarithm.
-> ``x * log(x)``, and 0 where `x` is 0.
~ xlogy

= iv
Modified Bessel function of the first kind of real order.
v: Order.
x: Argument.
-> I_v(x), of the broadcast shape.
~ ive, i0, kv

= kv
Modified Bessel function of the second kind of real order.
v: Order.
x: Argument.
-> K_v(x), of the broadcast shape.
~ kve, iv

= kn
Modified Bessel function of the second kind of integer order.
n: Order.
x: Argument.
-> K_n(x), of the broadcast shape.
~ kv

= chi2sf
Survival function of the chi-squared distribution.
k: Degrees of freedom.
-> Probability of exceeding `x`: ``gammaincc(k / 2, x / 2)``.
~ gammaincc

= gammal
Lower incomplete gamma function.
k: Parameter.
-> ``gammainc(k, x) * gamma(k)``, the integral of ``t**(k - 1) * exp(-t)`` from 0 to x.
~ gammainc, gammau

= gammau
Upper incomplete gamma function.
k: Parameter.
-> ``gammaincc(k, x) * gamma(k)``, the integral of ``t**(k - 1) * exp(-t)`` from x to infinity.
~ gammaincc, gammal
)doc");
// clang-format on

}  // namespace bitale::python
