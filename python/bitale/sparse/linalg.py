"""Systems, determinants and inverses of sparse matrices, by Cholesky or LU factors. The elimination order is
computed when expressions are built, or in each call if only the call knows the pattern."""

from __future__ import annotations

from typing import Any

from bitale import _core
from bitale._core import SparseCholesky, SparseLU
from bitale._geography import finder as _finder
from bitale.sparse.basic import as_sparse_variable, block_diag

__all__ = [
    "SparseCholesky",
    "SparseLU",
    "block_diag",
    "cholesky",
    "logdet",
    "lu",
    "quadratic_form",
    "sample",
    "selected_inverse",
    "solve",
    "solve_triangular",
    "spsolve",
]

SparseCholesky.__module__ = SparseLU.__module__ = __name__


def _reduced(factor: Any) -> tuple[Any, ...]:
    return type(factor), (factor.A,)


SparseCholesky.__reduce__ = SparseLU.__reduce__ = _reduced  # type: ignore[assignment,method-assign]


def cholesky(A: Any) -> SparseCholesky:
    """The factor of a symmetric (or Hermitian) positive definite matrix, whose lower triangle is read.

    If the pattern is static, the elimination order is computed once, otherwise in each call.

    solve(b), logdet(), selected_inverse() and sample(z) of the result share one factorisation in a
    call. A numpy.linalg.LinAlgError names the row at which a matrix turns out not to be positive
    definite.

    >>> import scipy.sparse
    >>> from bitale import sparse
    >>> Q = sparse.matrix("csr", "Q", pattern=scipy.sparse.csr_array([[4.0, 2.0], [2.0, 5.0]]))
    >>> b, factor = pt.dvector("b"), sparse.linalg.cholesky(Q)
    >>> f = bt.function([Q, b], [factor.solve(b), pt.exp(factor.logdet())])
    >>> f(scipy.sparse.csr_array([[4.0, 2.0], [2.0, 5.0]]), [6.0, 7.0])
    [array([1., 1.]), array(16.)]
    """
    return SparseCholesky(as_sparse_variable(A))


def solve(
    A: Any, b: Any, assume_a: str = "pos", lower: bool = True, transposed: bool = False
) -> Any:
    """x with A @ x == b, or with A.T @ x == b if transposed, for a vector or the columns of a matrix.

    assume_a describes the structure of A, with SciPy's names: "pos", symmetric (Hermitian) positive
    definite, by Cholesky factors; "gen", general, by LU factors; "sym" and "her", symmetric and
    Hermitian, by LU factors; "diagonal", "lower triangular" and "upper triangular", which read no
    other elements. For "pos", "sym" and "her", one triangle is read, the lower one if `lower`.
    numpy.linalg.LinAlgError for a singular matrix.

    >>> import scipy.sparse
    >>> from bitale import sparse
    >>> A, b = sparse.constant(scipy.sparse.csr_array([[0.0, 2.0], [2.0, 1.0]])), pt.dvector("b")
    >>> bt.function([b], sparse.linalg.solve(A, b, assume_a="sym"))([2.0, 3.0])
    array([1., 1.])
    """
    return _core.sparse_solve(as_sparse_variable(A), b, assume_a, lower, transposed)


def solve_triangular(
    A: Any, b: Any, lower: bool = True, trans: Any = 0, unit_diagonal: bool = False
) -> Any:
    """x with T @ x == b for T, the lower (or upper) triangle of A, for a vector or the columns of a matrix. The
    pattern may come with the call of a function.

    trans: 0 or "N"; 1 or "T", T.T @ x == b; 2 or "C", T.conj().T @ x == b. unit_diagonal: T has ones on its diagonal, and what A stores
    there is not read. Otherwise numpy.linalg.LinAlgError for an element on the diagonal that is 0 or not stored.

    >>> import scipy.sparse
    >>> from bitale import sparse
    >>> A, b = sparse.matrix("csr", "A"), pt.dvector("b")
    >>> f = bt.function([A, b], sparse.linalg.solve_triangular(A, b))
    >>> f(scipy.sparse.csr_array([[2.0, 0.0], [1.0, 4.0]]), [2.0, 9.0])
    array([1., 2.])
    """
    return _core.sparse_solve_triangular(as_sparse_variable(A), b, lower, trans, unit_diagonal)


def logdet(A: Any) -> Any:
    """The logarithm of the determinant of a symmetric positive definite matrix."""
    return cholesky(A).logdet()


def selected_inverse(A: Any) -> Any:
    """The elements of the inverse of a symmetric positive definite matrix at its own positions."""
    return cholesky(A).selected_inverse()


def sample(A: Any, z: Any) -> Any:
    """From standard normal numbers z, a sample of the Gaussian with precision A and mean 0."""
    return cholesky(A).sample(z)


def quadratic_form(A: Any, x: Any) -> Any:
    """x @ A @ x."""
    return (as_sparse_variable(A) @ x * x).sum()


def lu(A: Any) -> SparseLU:
    """The factors of a general square matrix, by partial pivoting.

    If the pattern is static, the order of the columns is computed once, otherwise in each call.

    solve(b), solve(b, trans=True), logdet() and slogdet() of the result share one factorisation in
    a call. A numpy.linalg.LinAlgError names the column at which a matrix turns out to be singular.

    >>> import scipy.sparse
    >>> from bitale import sparse
    >>> value = scipy.sparse.csr_array([[0.0, 2.0], [4.0, 1.0]])
    >>> A, b = sparse.matrix("csr", "A", pattern=value), pt.dvector("b")
    >>> f = bt.function([A, b], [sparse.linalg.lu(A).solve(b), *sparse.linalg.lu(A).slogdet()])
    >>> x, sign, logdet = f(value, [2.0, 5.0])
    >>> x, sign * np.exp(logdet)
    (array([1., 1.]), np.float64(-8.0))
    """
    return SparseLU(as_sparse_variable(A))


def spsolve(A: Any, b: Any) -> Any:
    """x with A @ x == b, for a general square matrix."""
    return solve(A, b, assume_a="gen")


__getattr__ = _finder(__name__, "sparse.op_classes")
