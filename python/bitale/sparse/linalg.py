"""Systems, determinants and inverses of sparse matrices, by Cholesky factors whose pattern is found when expressions are built."""

from __future__ import annotations

from typing import Any

from bitale._core import SparseCholesky
from bitale.sparse.basic import as_sparse_variable, block_diag

__all__ = ["SparseCholesky", "block_diag", "cholesky", "logdet", "lu", "quadratic_form", "sample", "selected_inverse", "solve", "spsolve"]

SparseCholesky.__module__ = __name__


def cholesky(A: Any) -> SparseCholesky:
    """The factor of a symmetric positive definite matrix with a static pattern; its lower triangle is read.

    solve(b), logdet(), selected_inverse() and sample(z) of the result share one factorisation in a call. numpy.linalg.LinAlgError
    names the row at which a matrix turns out not to be positive definite.

    >>> import scipy.sparse
    >>> from bitale import sparse
    >>> Q = sparse.matrix("csr", "Q", pattern=scipy.sparse.csr_array([[4.0, 2.0], [2.0, 5.0]]))
    >>> b, factor = pt.dvector("b"), sparse.linalg.cholesky(Q)
    >>> f = bt.function([Q, b], [factor.solve(b), pt.exp(factor.logdet())])
    >>> f(scipy.sparse.csr_array([[4.0, 2.0], [2.0, 5.0]]), [6.0, 7.0])
    [array([1., 1.]), array(16.)]
    """
    return SparseCholesky(as_sparse_variable(A))


def solve(A: Any, b: Any, assume_a: str = "pos") -> Any:
    """x with A @ x == b, of a symmetric positive definite A (assume_a="pos")."""
    if assume_a != "pos":
        raise NotImplementedError(f'sparse: solve: only assume_a="pos" is implemented, not {assume_a!r}')
    return cholesky(A).solve(b)


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


def lu(A: Any) -> Any:
    """NotImplementedError: LU factors of general sparse matrices."""
    raise NotImplementedError("sparse: LU factors of general matrices are not implemented; cholesky(A) is, of positive definite ones")


def spsolve(A: Any, b: Any) -> Any:
    """NotImplementedError: systems with general sparse matrices."""
    raise NotImplementedError("sparse: systems with general matrices are not implemented; solve(A, b) is, with positive definite ones")
