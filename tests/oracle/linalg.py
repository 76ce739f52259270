"""Decompositions and equations of matrices: NumPy's and SciPy's, of each matrix of a batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from .values import Val, formula, val, working_dtype


def _matrix_dtype(*xs: Val) -> np.dtype:
    return np.dtype("float32" if np.result_type(*(x.dtype for x in xs)) == np.float32 else "float64")


def _each(core: list[int], function: Any, *inputs: Any) -> tuple[list[Any], tuple[int, ...], np.dtype]:
    """What a function gives of each matrix of the batch, the batch, and the dtype."""
    xs = [val(x) for x in inputs]
    dtype = _matrix_dtype(*xs)
    arrays = [np.asarray(x.array, dtype="float64") for x in xs]
    batch = np.broadcast_shapes(*(a.shape[: a.ndim - n] for a, n in zip(arrays, core)))
    arrays = [np.broadcast_to(a, batch + a.shape[a.ndim - n :]) for a, n in zip(arrays, core)]
    return [function(*(a[at] for a in arrays)) for at in np.ndindex(batch)], batch, dtype


def _stacked(values: list[Any], batch: tuple[int, ...], dtype: Any) -> Val:
    return Val(np.array(values).reshape(batch + np.shape(values[0])), np.dtype(dtype))


def _finite(function: Any, shape_of: Any) -> Any:
    """The function, or all nan of what has a nan or an infinity."""

    def of(*arrays: Any) -> Any:
        if all(np.isfinite(a).all() for a in arrays):
            return function(*arrays)
        return np.full(shape_of(*arrays), np.nan)

    return of


def _lower_as_symmetric(a: np.ndarray, lower: bool) -> np.ndarray:
    half = np.tril(a) if lower else np.triu(a)
    return half + half.T - np.diag(np.diagonal(a))


@formula(ulps=2, backward=8)
def eigvalsh(a: Any, b: Any = None, lower: bool = True) -> Val:
    function = _finite(lambda x: np.linalg.eigvalsh(_lower_as_symmetric(x, lower)), lambda x: x.shape[:1])
    return _stacked(*_each([2], function, a))


@formula(ulps=2, backward=8)
def lu_factor(a: Any) -> list[Val]:
    def of(x: np.ndarray) -> Any:
        if not x.size:
            return x, np.zeros(0, "int32")
        return scipy.linalg.lu_factor(x, check_finite=False)

    values, batch, dtype = _each([2], of, a)
    return [_stacked([v[0] for v in values], batch, dtype), _stacked([v[1] for v in values], batch, "int32")]


@formula(ulps=0)
def pivot_to_permutation(p: Any, inverse: bool = False) -> Val:
    def of(pivots: np.ndarray) -> np.ndarray:
        out = np.arange(len(pivots))
        for i, other in enumerate(pivots.astype(int)):
            out[[i, other]] = out[[other, i]]
        return out if inverse else np.argsort(out)

    values, batch, _ = _each([1], of, p)
    return _stacked(values, batch, "int64")


@formula(ulps=2, backward=8)
def pinv(x: Any, rcond: float = -1) -> Val:
    def of(a: np.ndarray) -> np.ndarray:
        return np.linalg.pinv(a, rcond=max(a.shape) * np.finfo(float).eps if rcond < 0 else rcond)

    function = _finite(lambda a: of(a) if a.size else a.T, lambda a: a.T.shape)
    return _stacked(*_each([2], function, x))


@formula(ulps=2, backward=8)
def lstsq(x: Any, y: Any, rcond: float = -1) -> list[Val]:
    def of(a: np.ndarray, b: np.ndarray) -> Any:
        solution, _, rank, s = np.linalg.lstsq(a, b, rcond=None if rcond < 0 else rcond)
        return solution, rank, s

    values, batch, dtype = _each([2, 2], of, x, y)
    return [_stacked([v[k] for v in values], batch, dt) for k, dt in enumerate([dtype, "int64", dtype])]


def _exponential(x: np.ndarray) -> np.ndarray:
    """By a series and squaring in long double: SciPy's loses up to three digits at some norms."""
    if not x.size:
        return x
    halvings = max(0, int(np.ceil(np.log2(max(np.abs(x).sum(axis=0).max(), 1e-300)))) + 3)
    scaled = x.astype(np.longdouble) / np.longdouble(2) ** halvings
    term = out = np.eye(len(x), dtype=np.longdouble)
    for k in range(1, 20):
        term = term @ scaled / k
        out = out + term
    for _ in range(halvings):
        out = out @ out
    return out.astype(np.float64)


@formula(ulps=2, backward=8)
def expm(a: Any) -> Val:
    return _stacked(*_each([2], _finite(_exponential, lambda x: x.shape), a))


@formula(ulps=2, backward=8)
def solve_sylvester(a: Any, b: Any, q: Any) -> Val:
    function = _finite(lambda x, y, z: scipy.linalg.solve_sylvester(x, y, z) if z.size else z, lambda x, y, z: z.shape)
    return _stacked(*_each([2, 2, 2], function, a, b, q))


@formula(ulps=2, backward=8)
def solve_discrete_are(a: Any, b: Any, q: Any, r: Any) -> Val:
    def of(x: np.ndarray, y: np.ndarray, z: np.ndarray, w: np.ndarray) -> np.ndarray:
        return scipy.linalg.solve_discrete_are(x, y, (z + z.T) / 2, (w + w.T) / 2) if x.size else x

    return _stacked(*_each([2] * 4, _finite(of, lambda x, *_: x.shape), a, b, q, r))


@formula(ulps=2, backward=8)
def solve_tridiagonal(dl: Any, d: Any, du: Any, b: Any) -> Val:
    def of(lower: np.ndarray, middle: np.ndarray, upper: np.ndarray, right: np.ndarray) -> np.ndarray:
        if not len(middle):
            return right
        return np.linalg.solve(np.diag(lower, -1) + np.diag(middle) + np.diag(upper, 1), right)

    return _stacked(*_each([1, 1, 1, 2], of, dl, d, du, b))
