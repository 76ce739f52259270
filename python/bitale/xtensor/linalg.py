"""Linear algebra of labelled tensors. ``dims`` are the rows and columns of the matrices; all other dimensions are batches."""

from __future__ import annotations

from typing import Any

from bitale import _core
from bitale._core import XTensorVariable

__all__ = [
    "cho_solve", "cholesky", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "expm", "inv", "lstsq", "lu", "lu_factor", "lu_solve",
    "matrix_power", "matrix_rank", "norm", "pinv", "pivot_to_permutation", "qr", "qz", "schur", "slogdet", "solve", "solve_triangular", "svd",
    "svdvals", "trace",
]  # fmt: skip


def cholesky(
    x: Any, lower: bool = True, *, check_finite: bool = True, dims: Any
) -> XTensorVariable:
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
    return _core.xtensor_cholesky(x, dims, lower)


# ---- systems of equations --------------------------------------------------------------------------------------------


def solve(
    a: Any, b: Any, dims: Any, assume_a: str = "gen", lower: bool = False, check_finite: bool = True
) -> XTensorVariable:
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
    return _core.xtensor_solve(a, b, dims, assume_a, lower)


def solve_triangular(
    a: Any, b: Any, dims: Any, lower: bool = False, unit_diagonal: bool = False
) -> XTensorVariable:
    """Solve systems of equations with triangular matrices; arguments are as of `solve`."""
    return _core.xtensor_solve_triangular(a, b, dims, lower, unit_diagonal)


def cho_solve(c_and_lower: tuple[Any, bool], b: Any, dims: Any) -> XTensorVariable:
    """Solve systems of equations, given Cholesky factors of the matrices.

    Parameters
    ----------
    c_and_lower : tuple
        The factors, and whether they are lower triangular.
    b : XTensorVariable
        The right-hand sides.
    dims : sequence of str
        The rows and the columns of the factors, in this order, and the columns
        of `b` if its right-hand sides are matrices.

    Returns
    -------
    XTensorVariable
        The solutions. Of rows and columns they have the one that `b` lacks.

    Raises
    ------
    ValueError
        For names that do not fit the operands.

    Examples
    --------
    >>> from bitale import xtensor as px
    >>> a = px.as_xtensor([[4.0, 2.0], [2.0, 3.0]], dims=("row", "col"))
    >>> factor = px.linalg.cholesky(a, dims=("row", "col"))
    >>> px.linalg.cho_solve((factor, True), px.as_xtensor([8.0, 8.0], dims="row"), dims=("row", "col"))
    Blockwise.0: float64[col: 2]
    """
    return _core.xtensor_cho_solve(c_and_lower, b, dims)


def lu_factor(x: Any, *, dims: Any) -> tuple[XTensorVariable, XTensorVariable]:
    """LU factors in one matrix with the dimensions of `x`, and the pivots along its rows, for `lu_solve`."""
    factors, pivots = _core.xtensor_lu_factor(x, dims)
    return factors, pivots


def lu_solve(
    lu_and_pivots: tuple[Any, Any], b: Any, dims: Any, trans: Any = False
) -> XTensorVariable:
    """Solve systems of equations, given the results of `lu_factor`; `dims` are as of `cho_solve`.

    With `trans`, the matrices are transposed; 2 is the conjugate transpose."""
    return _core.xtensor_lu_solve(lu_and_pivots, b, dims, trans)


def lstsq(
    a: Any, b: Any, dims: Any, rcond: float | None = None, *, mode: Any = "mode"
) -> tuple[XTensorVariable, ...]:
    """Solve systems of equations in the sense of least squares.

    Parameters
    ----------
    a : XTensorVariable
        The matrices.
    b : XTensorVariable
        The right-hand sides, along the rows of the matrices.
    dims : sequence of str
        The rows and the columns of the matrices, and the columns of `b` if its
        right-hand sides are matrices.
    rcond : float, optional
        Singular values up to this times the largest count as 0.
    mode : str or Dim
        The dimension of singular values.

    Returns
    -------
    tuple of XTensorVariable
        The solutions, along the columns of the matrices; the sums of squared
        residuals; the ranks of the matrices; and their singular values.

    Raises
    ------
    ValueError
        For names that do not fit the operands.

    Examples
    --------
    >>> from bitale import xtensor as px
    >>> a = px.as_xtensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], dims=("person", "coefficient"))
    >>> b = px.as_xtensor([1.0, 3.0, 5.0], dims="person")
    >>> px.linalg.lstsq(a, b, dims=("person", "coefficient"))[0].values.eval().round(6)
    array([1., 2.])
    """
    return tuple(_core.xtensor_lstsq(a, b, dims, rcond, mode))


# ---- functions of matrices, and numbers of them ----------------------------------------------------------------------


def inv(x: Any, *, dims: Any) -> XTensorVariable:
    """The inverses of matrices. The rows of an inverse are the columns of its matrix, and are called so."""
    return _core.xtensor_inv(x, dims)


def pinv(x: Any, *, dims: Any, rcond: float | None = None) -> XTensorVariable:
    """The pseudo-inverses of matrices, with rows and columns as of `inv`; singular values up to `rcond` times the largest count as 0."""
    return _core.xtensor_pinv(x, dims, rcond)


def expm(x: Any, *, dims: Any) -> XTensorVariable:
    """The exponentials of matrices."""
    return _core.xtensor_expm(x, dims)


def matrix_power(x: Any, n: int, *, dims: Any) -> XTensorVariable:
    """The products of n equal matrices; for a negative n, of their inverses."""
    return _core.xtensor_matrix_power(x, n, dims)


def det(x: Any, *, dims: Any) -> XTensorVariable:
    """The determinants of matrices."""
    return _core.xtensor_det(x, dims)


def slogdet(x: Any, *, dims: Any) -> tuple[XTensorVariable, XTensorVariable]:
    """The signs of determinants, and the logarithms of their absolute values."""
    sign, logarithm = _core.xtensor_slogdet(x, dims)
    return sign, logarithm


def trace(x: Any, offset: int = 0, *, dims: Any) -> XTensorVariable:
    """The sums of diagonals."""
    return _core.xtensor_trace(x, dims, offset)


def diagonal(x: Any, offset: int = 0, *, dims: Any, mode: Any = "mode") -> XTensorVariable:
    """The diagonals of matrices, along a new dimension `mode`."""
    return _core.xtensor_diagonal(x, dims, offset, mode)


def matrix_rank(x: Any, *, dims: Any) -> XTensorVariable:
    """How many singular values of each matrix are not 0 within rounding."""
    return _core.xtensor_matrix_rank(x, dims)


def norm(x: Any, ord: Any = None, *, dims: Any) -> XTensorVariable:
    """The norms of vectors, for one dimension, or of matrices; orders are those of `bitale.tensor.linalg.norm`."""
    return _core.xtensor_norm(x, dims, ord)


# ---- decompositions --------------------------------------------------------------------------------------------------


def eigh(
    x: Any, *, dims: Any, lower: bool = True, mode: Any = "mode"
) -> tuple[XTensorVariable, XTensorVariable]:
    """The eigenvalues of symmetric matrices, in ascending order along a new dimension `mode`, and the eigenvectors along the rows.

    `lower` says which triangle is read."""
    values, vectors = _core.xtensor_eigh(x, dims, lower, mode)
    return values, vectors


def eigvalsh(x: Any, *, dims: Any, lower: bool = True, mode: Any = "mode") -> XTensorVariable:
    """The eigenvalues of symmetric matrices, in ascending order along a new dimension `mode`; `lower` says which triangle is read."""
    return _core.xtensor_eigvalsh(x, dims, lower, mode)


def eig(x: Any, *, dims: Any, mode: Any = "mode") -> tuple[XTensorVariable, XTensorVariable]:
    """The complex eigenvalues of matrices along a new dimension `mode`, and the eigenvectors along the rows."""
    values, vectors = _core.xtensor_eig(x, dims, mode)
    return values, vectors


def eigvals(x: Any, *, dims: Any, mode: Any = "mode") -> XTensorVariable:
    """The complex eigenvalues of matrices along a new dimension `mode`."""
    return _core.xtensor_eigvals(x, dims, mode)


def svd(
    x: Any, *, dims: Any, mode: Any = "mode"
) -> tuple[XTensorVariable, XTensorVariable, XTensorVariable]:
    """The factors u, s and vt of matrices: singular values in descending order along a new dimension `mode`."""
    u, s, vt = _core.xtensor_svd(x, dims, mode)
    return u, s, vt


def svdvals(x: Any, *, dims: Any, mode: Any = "mode") -> XTensorVariable:
    """The singular values of matrices, in descending order along a new dimension `mode`."""
    return _core.xtensor_svdvals(x, dims, mode)


def qr(x: Any, *, dims: Any, mode: Any = "mode") -> tuple[XTensorVariable, XTensorVariable]:
    """The orthogonal and the triangular factor of matrices, which meet in a new dimension `mode`."""
    q, r = _core.xtensor_qr(x, dims, mode)
    return q, r


def lu(
    x: Any,
    *,
    dims: Any,
    permute_l: bool = False,
    p_indices: bool = False,
    pivot: Any = "pivot",
    mode: Any = "mode",
) -> tuple[XTensorVariable, ...]:
    """Factor matrices into triangular ones, with pivoting.

    Parameters
    ----------
    x : XTensorVariable
        The matrices.
    dims : sequence of str
        The rows and the columns.
    permute_l : bool
        Return the product of the permutation and the lower factor.
    p_indices : bool
        Return permutations as positions along `pivot`.
    pivot : str or Dim
        The dimension in which the permutation and the lower factor meet.
    mode : str or Dim
        The dimension in which the factors meet.

    Returns
    -------
    tuple of XTensorVariable
        p(row, pivot), l(pivot, mode) and u(mode, column). With `permute_l`,
        their product p l (row, mode), and u. With `p_indices`, p(row) are
        positions, and ``l.isel(pivot=p)`` is p l.

    Raises
    ------
    ValueError
        For another number of dimensions, and names that are not there.

    Examples
    --------
    >>> from bitale import xtensor as px
    >>> x = px.as_xtensor([[0.0, 1.0], [2.0, 3.0]], dims=("row", "col"))
    >>> p, l, u = px.linalg.lu(x, dims=("row", "col"), p_indices=True)
    >>> px.dot(l.isel(pivot=p), u, dim="mode").values.eval()
    array([[0., 1.],
           [2., 3.]])
    """
    return tuple(_core.xtensor_lu(x, dims, permute_l, p_indices, pivot, mode))


def pivot_to_permutation(p: Any, inverse: bool = False, *, dims: Any) -> XTensorVariable:
    """The permutations of rows that pivots, as of `lu_factor`, stand for; `dims` is the dimension of pivots."""
    return _core.xtensor_pivot_to_permutation(p, dims, inverse)


def schur(
    x: Any,
    *,
    dims: Any,
    output: str = "real",
    sort: str | None = None,
    mode: Any = "mode",
    mode2: Any = "mode2",
) -> tuple[XTensorVariable, XTensorVariable]:
    """The Schur form of matrices.

    Parameters
    ----------
    x : XTensorVariable
        The matrices.
    dims : sequence of str
        The rows and the columns.
    output : str
        'real', for a form with blocks of 2 x 2 where eigenvalues are pairs of
        complex numbers, or 'complex'.
    sort : str, optional
        Which eigenvalues come first: 'lhp', 'rhp', 'iuc' or 'ouc'.
    mode : str or Dim
        The rows of the triangular factor.
    mode2 : str or Dim
        Its columns.

    Returns
    -------
    tuple of XTensorVariable
        t(mode, mode2) and z(row, mode), where z t z^T is `x`: its columns have
        the place of z's rows in the transposed one.

    Raises
    ------
    ValueError
        For another number of dimensions, and names that are not there.
    """
    upper, z = _core.xtensor_schur(x, dims, output, sort, mode, mode2)
    return upper, z


def qz(
    a: Any,
    b: Any,
    *,
    dims: Any,
    output: str = "real",
    sort: str | None = None,
    return_eigenvalues: bool = False,
    mode: Any = "mode",
    mode2: Any = "mode2",
) -> tuple[XTensorVariable, ...]:
    """The generalised Schur form of pairs of matrices.

    Parameters
    ----------
    a : XTensorVariable
        The matrices.
    b : XTensorVariable
        Matrices with the same rows and columns.
    dims : sequence of str
        The rows and the columns.
    output : str
        'real' or 'complex', as of `schur`.
    sort : str, optional
        Which eigenvalues come first: 'lhp', 'rhp', 'iuc' or 'ouc'.
    return_eigenvalues : bool
        Whether to return them.
    mode : str or Dim
        The rows of the triangular factors.
    mode2 : str or Dim
        Their columns.

    Returns
    -------
    tuple of XTensorVariable
        s and p(mode, mode2), q(row, mode) and z(column, mode2), where a is
        q s z^T and b is q p z^T. With the eigenvalues s, p, alpha and beta(mode),
        q and z, in which alpha / beta are the eigenvalues.

    Raises
    ------
    ValueError
        For another number of dimensions, and names that are not there.
    """
    s, p, q, z, alpha, beta = _core.xtensor_qz(a, b, dims, output, sort, mode, mode2)
    return (s, p, alpha, beta, q, z) if return_eigenvalues else (s, p, q, z)
