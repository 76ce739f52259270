"""Linear algebra: decompositions of matrices, and systems of equations. The last two dimensions are those of the
matrices; dimensions before them are batch dimensions, which broadcast. Failures raise numpy.linalg.LinAlgError."""

from __future__ import annotations

from typing import Any as _Any

from bitale._geography import absent
from bitale._geography import add_modules as _add_modules
from bitale.tensor import linalg_classes as _classes
from bitale.tensor.linalg_classes import *  # noqa: F403
from bitale._core import (  # type: ignore[attr-defined]
    LinAlgError,
    block_diag,
    cho_solve,
    cholesky,
    cross,
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
    matmul,
    matrix_dot,
    matrix_norm,
    matrix_power,
    matrix_rank,
    norm,
    outer,
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
    svdvals,
    swap_last_axes,
    tensordot,
    tensorinv,
    tensorsolve,
    trace,
    tridiagonal_lu_factor,
    tridiagonal_lu_solve,
    vecdot,
    vector_norm,
)

matrix_inverse = inv
matrix_transpose = swap_last_axes


def ordqz(A: _Any, B: _Any, sort: str | None = None, output: str = "real") -> _Any:
    """Generalised Schur decomposition with ordered eigenvalues.

    Parameters
    ----------
    A : tensor_like
        Matrices, of shape (..., n, n).
    B : tensor_like
        Matrices, of shape (..., n, n).
    sort : str, optional
        Which eigenvalues come first: 'lhp', 'rhp', 'iuc' or 'ouc'.
    output : str
        'real' or 'complex'.

    Returns
    -------
    tuple of TensorVariable
        ``(S, P, alpha, beta, Q, Z)``, as returned by `qz` with the eigenvalues.

    See Also
    --------
    qz
    """
    return qz(A, B, output=output, sort=sort, return_eigenvalues=True)


__all__ = [
    "LinAlgError",
    "block_diag",
    "cho_solve",
    "cholesky",
    "cross",
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
    "matmul",
    "matrix_dot",
    "matrix_inverse",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "norm",
    "ordqz",
    "outer",
    "pinv",
    "pivot_to_permutation",
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
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "tridiagonal_lu_factor",
    "tridiagonal_lu_solve",
    "vecdot",
    "vector_norm",
]

__all__ += _classes.__all__

_add_modules(__name__)

__getattr__ = absent(__name__)
