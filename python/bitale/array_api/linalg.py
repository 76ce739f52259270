"""Linear algebra."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import bitale.tensor as pt
import bitale.tensor.linalg as _linalg
from bitale.array_api._dtypes import as_dtype, as_operands, as_symbolic, dtype_of, of_kinds
from bitale.array_api._eager import named, standard, standard_by_shape
from bitale.array_api._reductions import _accumulated

__all__ = ["cholesky", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power",
           "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "trace", "vecdot",
           "vector_norm"]  # fmt: skip


def _matrices(x: Any, name: str, kinds: str = "fc", is_square: bool = False) -> Any:
    x = as_symbolic(x)
    if x.ndim < 2:
        raise np.linalg.LinAlgError(f"{name}: expected matrices, got {x.ndim} dimensions")
    of_kinds(x, name, kinds)
    rows, columns = x.type.shape[-2:]
    if is_square and None not in (rows, columns) and rows != columns:
        raise np.linalg.LinAlgError(f"{name}: expected square matrices, got {rows} x {columns}")
    return x


def _numbers(name: str, *given: Any) -> list[Any]:
    out = as_operands(*given)
    of_kinds(out[0], name, "iufc")
    return out


def _of_one(name: str, is_square: bool, doc: str, result: Any = None) -> Any:
    """The function of that name, of matrices of floats alone."""

    def function(x: Any, /) -> Any:
        found = getattr(_linalg, name)(_matrices(x, name, is_square=is_square))
        return found if result is None else result(*found)

    return named(function, name, doc)


@standard
def matmul(x1: Any, x2: Any, /) -> Any:
    """The product of matrices, or of stacks of them."""
    x1, x2 = _numbers("matmul", x1, x2)
    if 0 in (x1.ndim, x2.ndim):
        raise ValueError("matmul: expected vectors or matrices, got a scalar")
    return pt.matmul(x1, x2)


@standard
def matrix_transpose(x: Any, /) -> Any:
    """Each matrix of a stack transposed."""
    x = as_symbolic(x)
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose: expected matrices, got {x.ndim} dimensions")
    return pt.swapaxes(x, -1, -2)


@standard
def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """The product summed over axes of both."""
    x1, x2 = _numbers("tensordot", x1, x2)
    return pt.tensordot(x1, x2, axes=axes)


@standard
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The product of vectors along an axis, with the conjugate of the first."""
    x1, x2 = _numbers("vecdot", x1, x2)
    if not all(-x.ndim <= axis < 0 for x in (x1, x2)):
        raise ValueError(
            f"vecdot: expected an axis from -{min(x1.ndim, x2.ndim)} to -1, got {axis}"
        )
    return pt.vecdot(x1, x2, axis=axis)


@standard
def cholesky(x: Any, /, *, upper: bool = False) -> Any:
    """The triangular factor of positive definite matrices."""
    return _linalg.cholesky(_matrices(x, "cholesky", is_square=True), upper=upper)


@standard_by_shape
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The cross products of vectors of length 3 along an axis."""
    x1, x2 = _numbers("cross", x1, x2)
    for x in (x1, x2):
        if not -x.ndim <= axis < x.ndim:
            raise np.exceptions.AxisError(axis, x.ndim)
        if x.type.shape[axis] not in (3, None):
            raise ValueError(f"cross: expected vectors of length 3, got {x.type.shape[axis]}")
    return pt.cross(x1, x2, axis=axis)


@standard
def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """A diagonal of each matrix."""
    x = as_symbolic(x)
    if x.ndim < 2:
        raise ValueError(f"diagonal: expected matrices, got {x.ndim} dimensions")
    return pt.diagonal(x, offset=offset, axis1=-2, axis2=-1)


EigResult = NamedTuple("EigResult", [("eigenvalues", Any), ("eigenvectors", Any)])
EighResult = NamedTuple("EighResult", [("eigenvalues", Any), ("eigenvectors", Any)])
QRResult = NamedTuple("QRResult", [("Q", Any), ("R", Any)])
SlogdetResult = NamedTuple("SlogdetResult", [("sign", Any), ("logabsdet", Any)])
SVDResult = NamedTuple("SVDResult", [("U", Any), ("S", Any), ("Vh", Any)])

det = _of_one("det", True, "The determinants of matrices.")
eigh = _of_one("eigh", True, "Eigenvalues and eigenvectors of Hermitian matrices.", EighResult)
inv = _of_one("inv", True, "Inverse matrices.")
slogdet = _of_one("slogdet", True, "The sign and the logarithm of determinants.", SlogdetResult)
svdvals = _of_one("svdvals", False, "Singular values.")


@standard
def eig(x: Any, /) -> EigResult:
    """Eigenvalues and eigenvectors."""
    x = _matrices(x, "eig", is_square=True)
    values, vectors = _linalg.eig(x)
    dtype = "complex64" if x.dtype in ("float32", "complex64") else "complex128"
    return EigResult(pt.cast(values, dtype), pt.cast(vectors, dtype))


@standard
def eigvals(x: Any, /) -> Any:
    """Eigenvalues."""
    x = _matrices(x, "eigvals", is_square=True)
    return pt.cast(
        _linalg.eigvals(x), "complex64" if x.dtype in ("float32", "complex64") else "complex128"
    )


@standard
def eigvalsh(x: Any, /) -> Any:
    """Eigenvalues of Hermitian matrices."""
    return _linalg.eigh(_matrices(x, "eigvalsh", is_square=True))[0]


@standard
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Norms of matrices."""
    return _linalg.matrix_norm(_matrices(x, "matrix_norm"), keepdims=keepdims, ord=ord)


@standard
def matrix_power(x: Any, n: int, /) -> Any:
    """Powers of matrices."""
    return _linalg.matrix_power(_matrices(x, "matrix_power", is_square=True), n)


@standard
def matrix_rank(x: Any, /, *, rtol: Any = None) -> Any:
    """How many singular values are not 0, up to a tolerance relative to the largest."""
    return _linalg.matrix_rank(_matrices(x, "matrix_rank"), rtol=rtol)


@standard
def outer(x1: Any, x2: Any, /) -> Any:
    """The products of all pairs of elements of two vectors."""
    x1, x2 = _numbers("outer", x1, x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError("outer: expected two vectors")
    return pt.outer(x1, x2)


@standard
def pinv(x: Any, /, *, rtol: Any = None) -> Any:
    """Pseudo-inverse matrices."""
    return _linalg.pinv(_matrices(x, "pinv"), rtol=rtol)


@standard
def qr(x: Any, /, *, mode: str = "reduced") -> QRResult:
    """Orthogonal and triangular factors."""
    if mode not in ("reduced", "complete"):
        raise ValueError(f'qr: expected mode "reduced" or "complete", got {mode!r}')
    return QRResult(*_linalg.qr(_matrices(x, "qr"), mode=mode))


@standard
def solve(x1: Any, x2: Any, /) -> Any:
    """The solutions of linear systems; x2 is one vector, or stacks of matrices."""
    x1, x2 = as_operands(x1, x2)
    return _linalg.solve(
        _matrices(x1, "solve", is_square=True), x2, b_ndim=1 if x2.ndim == 1 else 2
    )


@standard
def svd(x: Any, /, *, full_matrices: bool = True) -> SVDResult:
    """Singular values and vectors."""
    return SVDResult(*_linalg.svd(_matrices(x, "svd"), full_matrices=full_matrices))


@standard
def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """The sums of diagonals."""
    x = _matrices(x, "trace", "iufc")
    target = _accumulated(dtype_of(x)) if dtype is None else as_dtype(dtype).name
    return pt.trace(x, offset=offset, axis1=-2, axis2=-1, dtype=target)


@standard
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Norms of vectors along axes; of the flattened array by default."""
    x = of_kinds(x, "vector_norm", "fc")
    return _linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)
