"""The operations of BLAS as functions, under PyTensor's names: formulas of products and sums, which compiled
functions compute by calling BLAS where that pays. Nothing is written in place here, so names ending in `_inplace`
do the same.

>>> from bitale.tensor.blas import gemv
>>> gemv(np.ones(2), 2.0, np.eye(2), np.array([1.0, 3.0]), 0.5).eval()
array([2.5, 6.5])
"""

from __future__ import annotations

from typing import Any

from bitale._core import TensorVariable, as_tensor_variable, cast, dot, outer
from bitale._geography import finder

__all__ = [
    "gemm",
    "gemm_inplace",
    "gemm_no_inplace",
    "gemv",
    "gemv_inplace",
    "gemv_no_inplace",
    "ger",
    "ger_destructive",
]


def _of(function: str, **ranks: tuple[Any, int]) -> list[TensorVariable]:
    """Tensors of these ranks and of one float dtype."""
    out = []
    for name, (given, ndim) in ranks.items():
        x = as_tensor_variable(given)
        if x.ndim != ndim:
            raise TypeError(
                f"{function}: expected {('a scalar', 'a vector', 'a matrix')[ndim]} as {name}, got {x} with {x.ndim} dimensions"
            )
        out.append(x)
    dtype = next(x.dtype for x in out if x.ndim)
    if dtype[0] not in "fc" or any(x.dtype != dtype for x in out if x.ndim):
        raise TypeError(
            f"{function}: expected tensors of one float dtype, got {', '.join(x.dtype for x in out if x.ndim)}"
        )
    return [x if x.ndim else cast(x, dtype) for x in out]


def gemm(z: Any, a: Any, x: Any, y: Any, b: Any) -> TensorVariable:
    """b * z + a * x @ y, of matrices and scalars. TypeError for other ranks, and for tensors of several dtypes.

    >>> from bitale.tensor.blas import gemm
    >>> gemm(np.ones((1, 1)), 2.0, np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]), 1.0).eval()
    array([[23.]])
    """
    z, a, x, y, b = _of("gemm", z=(z, 2), a=(a, 0), x=(x, 2), y=(y, 2), b=(b, 0))
    out: TensorVariable = b * z + a * dot(x, y)
    return out


def gemv(y: Any, alpha: Any, A: Any, x: Any, beta: Any) -> TensorVariable:
    """beta * y + alpha * A @ x, of vectors, a matrix and scalars. TypeError for other ranks, and for tensors of several dtypes.

    >>> from bitale.tensor.blas import gemv
    >>> gemv(np.zeros(1), 1.0, np.array([[1.0, 2.0]]), np.array([3.0, 4.0]), 0.0).eval()
    array([11.])
    """
    y, alpha, A, x, beta = _of(
        "gemv", y=(y, 1), alpha=(alpha, 0), A=(A, 2), x=(x, 1), beta=(beta, 0)
    )
    out: TensorVariable = beta * y + alpha * dot(A, x)
    return out


def ger(A: Any, alpha: Any, x: Any, y: Any) -> TensorVariable:
    """A + alpha * outer(x, y), of a matrix, vectors and a scalar. TypeError for other ranks, and for tensors of several dtypes.

    >>> from bitale.tensor.blas import ger
    >>> ger(np.zeros((1, 2)), 2.0, np.array([1.0]), np.array([3.0, 4.0])).eval()
    array([[6., 8.]])
    """
    A, alpha, x, y = _of("ger", A=(A, 2), alpha=(alpha, 0), x=(x, 1), y=(y, 1))
    out: TensorVariable = A + alpha * outer(x, y)
    return out


__getattr__ = finder(__name__)  # classes of ops

gemm_inplace = gemm_no_inplace = gemm
gemv_inplace = gemv_no_inplace = gemv
ger_destructive = ger

from bitale._geography import add_modules as _add_modules

_add_modules(__name__)
