"""Linear algebra: decompositions of matrices, and systems of equations. The last two dimensions are matrices, those
before them batches, which broadcast. What fails raises numpy.linalg.LinAlgError."""

from __future__ import annotations

from typing import Any as _Any

from bitale._core import (
    LinAlgError,
    block_diag,
    cho_solve,
    cholesky,
    det,
    diagonal,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    expm,
    inv,
    kron,
    lstsq,
    lu,
    lu_factor,
    lu_solve,
    matrix_dot,
    matrix_power,
    norm,
    pinv,
    pivot_to_permutation,
    qr,
    qz,
    schur,
    slogdet,
    solve,
    solve_banded,
    solve_continuous_are,
    solve_continuous_lyapunov,
    solve_discrete_are,
    solve_discrete_lyapunov,
    solve_sylvester,
    solve_triangular,
    solve_tridiagonal,
    svd,
    tensorinv,
    tensorsolve,
    trace,
    tridiagonal_lu_factor,
    tridiagonal_lu_solve,
)

matrix_inverse = inv


def ordqz(A: _Any, B: _Any, sort: str | None = None, output: str = "real") -> _Any:
    """(S, P, alpha, beta, Q, Z): qz with eigenvalues, those that `sort` says first."""
    return qz(A, B, output=output, sort=sort, return_eigenvalues=True)


__all__ = [
    "LinAlgError",
    "block_diag",
    "cho_solve",
    "cholesky",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "expm",
    "inv",
    "kron",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_solve",
    "matrix_dot",
    "matrix_inverse",
    "matrix_power",
    "norm",
    "pinv",
    "pivot_to_permutation",
    "ordqz",
    "qr",
    "qz",
    "schur",
    "slogdet",
    "solve",
    "solve_banded",
    "solve_continuous_are",
    "solve_continuous_lyapunov",
    "solve_discrete_are",
    "solve_discrete_lyapunov",
    "solve_sylvester",
    "solve_triangular",
    "solve_tridiagonal",
    "svd",
    "tensorinv",
    "tensorsolve",
    "trace",
    "tridiagonal_lu_factor",
    "tridiagonal_lu_solve",
]
