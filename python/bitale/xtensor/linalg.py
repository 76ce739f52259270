"""Linear algebra of labelled tensors. ``dims`` are the rows and columns of the matrices; all other dimensions are batches."""

from __future__ import annotations

from typing import Any

import bitale.tensor as pt
from bitale import _core
from bitale._core import XTensorVariable
from bitale.tensor import linalg
from bitale.xtensor.blockwise import blockwise, core_names

__all__ = [
    "cholesky", "det", "eigh", "eigvalsh", "expm", "inv", "matrix_power", "pinv", "qr", "slogdet", "solve", "solve_triangular", "svd", "svdvals",
]  # fmt: skip


def cholesky(x: Any, lower: bool = True, *, check_finite: bool = True, dims: Any) -> XTensorVariable:
    """Factor positive definite matrices.

    Parameters
    ----------
    x : XTensorVariable
        The matrices.
    lower : bool
        Whether the factor is lower triangular.
    check_finite : bool
        Accepted for compatibility with PyTensor.
    dims : sequence of str
        The rows and the columns.

    Returns
    -------
    XTensorVariable
        The factors, whose rows and columns are the last dimensions.

    Raises
    ------
    ValueError
        For another number of dimensions, and names that are not there.
    """
    rows = core_names(dims, (2,), "cholesky")
    return blockwise("cholesky", lambda a: linalg.cholesky(a, lower=lower), [x], [rows], [rows])[0]


def _system(a: Any, b: Any, dims: Any, who: str) -> tuple[XTensorVariable, XTensorVariable, list[list[str]], list[str], int]:
    """Operands, their core dimensions, those of the solution, and the rank of a right-hand side."""
    left, right = _core.xtensor_operand(a), _core.xtensor_operand(b)
    names = core_names(dims, (2, 3), who)
    own = [name for name in names if name not in left.dims] if len(names) == 3 else []
    square = [name for name in names if name not in own]
    rows = [name for name in square if name not in right.dims]
    if len(own) != len(names) - 2 or len(rows) != 1:
        raise ValueError(
            f"{who}: expected dims to name the two dimensions of the matrices, of which the right-hand side has one, and with three also its "
            f"columns, which the matrices lack; got {tuple(names)} for {left.dims} and {right.dims}"
        )
    shared = next(name for name in square if name != rows[0])
    return left, right, [[rows[0], shared], [shared, *own]], [rows[0], *own], 1 + len(own)


def solve(a: Any, b: Any, dims: Any, assume_a: str = "gen", lower: bool = False, check_finite: bool = True) -> XTensorVariable:
    """Solve systems of equations.

    Parameters
    ----------
    a : XTensorVariable
        The matrices. Their rows are the dimension that `b` lacks, and their
        columns the one that `b` shares, as in PyTensor.
    b : XTensorVariable
        The right-hand sides.
    dims : sequence of str
        The two dimensions of the matrices, and the columns of `b` if its
        right-hand sides are matrices.
    assume_a : str
        What is known of the matrices, as for `bitale.tensor.linalg.solve`.
    lower : bool
        Which triangle is read where one of them is enough.
    check_finite : bool
        Accepted for compatibility with PyTensor.

    Returns
    -------
    XTensorVariable
        The solutions: the dimension that `b` lacks, then its columns.

    Raises
    ------
    ValueError
        For names that do not fit the operands.
    """
    left, right, core, result, rank = _system(a, b, dims, "solve")
    return blockwise("solve", lambda m, v: linalg.solve(m, v, assume_a=assume_a, lower=lower, b_ndim=rank), [left, right], core, [result])[0]


def solve_triangular(a: Any, b: Any, dims: Any, lower: bool = False, unit_diagonal: bool = False) -> XTensorVariable:
    """Solve systems of equations with triangular matrices; arguments are as of `solve`."""
    left, right, core, result, rank = _system(a, b, dims, "solve_triangular")

    def solved(m: Any, v: Any) -> Any:
        return linalg.solve_triangular(m, v, lower=lower, unit_diagonal=unit_diagonal, b_ndim=rank)

    return blockwise("solve_triangular", solved, [left, right], core, [result])[0]


def inv(x: Any, *, dims: Any) -> XTensorVariable:
    """The inverses of matrices. The rows of an inverse are the columns of its matrix, and are called so."""
    rows = core_names(dims, (2,), "inv")
    return blockwise("inv", linalg.inv, [x], [rows], [rows[::-1]])[0]


def pinv(x: Any, *, dims: Any) -> XTensorVariable:
    """The pseudo-inverses of matrices, with rows and columns as of `inv`."""
    rows = core_names(dims, (2,), "pinv")
    return blockwise("pinv", linalg.pinv, [x], [rows], [rows[::-1]])[0]


def expm(x: Any, *, dims: Any) -> XTensorVariable:
    """The exponentials of matrices."""
    rows = core_names(dims, (2,), "expm")
    return blockwise("expm", linalg.expm, [x], [rows], [rows])[0]


def matrix_power(x: Any, n: int, *, dims: Any) -> XTensorVariable:
    """The products of n equal matrices; for a negative n, of their inverses."""
    rows = core_names(dims, (2,), "matrix_power")
    return blockwise("matrix_power", lambda a: linalg.matrix_power(a, n), [x], [rows], [rows])[0]


def det(x: Any, *, dims: Any) -> XTensorVariable:
    """The determinants of matrices."""
    return blockwise("det", linalg.det, [x], [core_names(dims, (2,), "det")], [[]])[0]


def slogdet(x: Any, *, dims: Any) -> tuple[XTensorVariable, XTensorVariable]:
    """The signs of determinants, and the logarithms of their absolute values."""
    sign, logarithm = blockwise("slogdet", linalg.slogdet, [x], [core_names(dims, (2,), "slogdet")], [[], []])
    return sign, logarithm


def eigh(x: Any, *, dims: Any, mode: Any = "mode") -> tuple[XTensorVariable, XTensorVariable]:
    """The eigenvalues of symmetric matrices, in ascending order along a new dimension `mode`, and the eigenvectors along the rows."""
    rows = core_names(dims, (2,), "eigh")
    values, vectors = blockwise("eigh", linalg.eigh, [x], [rows], [[mode], [rows[0], mode]])
    return values, vectors


def eigvalsh(x: Any, *, dims: Any, mode: Any = "mode") -> XTensorVariable:
    """The eigenvalues of symmetric matrices, in ascending order along a new dimension `mode`."""
    return blockwise("eigvalsh", lambda a: linalg.eigh(a)[0], [x], [core_names(dims, (2,), "eigvalsh")], [[mode]])[0]


def svd(x: Any, *, dims: Any, mode: Any = "mode") -> tuple[XTensorVariable, XTensorVariable, XTensorVariable]:
    """The factors u, s and vt of matrices: singular values in descending order along a new dimension `mode`."""
    rows, columns = core_names(dims, (2,), "svd")
    u, s, vt = blockwise("svd", lambda a: linalg.svd(a, full_matrices=False), [x], [[rows, columns]], [[rows, mode], [mode], [mode, columns]])
    return u, s, vt


def svdvals(x: Any, *, dims: Any, mode: Any = "mode") -> XTensorVariable:
    """The singular values of matrices, in descending order along a new dimension `mode`."""
    return blockwise("svdvals", lambda a: linalg.svd(a, compute_uv=False), [x], [core_names(dims, (2,), "svdvals")], [[mode]])[0]


def qr(x: Any, *, dims: Any, mode: Any = "mode") -> tuple[XTensorVariable, XTensorVariable]:
    """The orthogonal and the triangular factor of matrices, which meet in a new dimension `mode`."""
    rows, columns = core_names(dims, (2,), "qr")
    q, r = blockwise("qr", lambda a: pt.linalg.qr(a, mode="reduced"), [x], [[rows, columns]], [[rows, mode], [mode, columns]])
    return q, r
