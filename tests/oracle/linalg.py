"""Matrix decompositions and matrix equations by NumPy and SciPy, applied to each matrix of a batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from .values import Val, formula, val


def _matrix_dtype(*xs: Val) -> np.dtype:
    return np.dtype(
        "float32"
        if np.result_type(*(x.dtype for x in xs)) in (np.float16, np.float32)
        else "float64"
    )


def _each(
    core: list[int], function: Any, *inputs: Any
) -> tuple[list[Any], tuple[int, ...], np.dtype]:
    """The results for each matrix of the batch, the batch shape, and the dtype."""
    xs = [val(x) for x in inputs]
    dtype = _matrix_dtype(*xs)
    arrays = [np.asarray(x.array, dtype="float64") for x in xs]
    batch = np.broadcast_shapes(*(a.shape[: a.ndim - n] for a, n in zip(arrays, core)))
    arrays = [np.broadcast_to(a, batch + a.shape[a.ndim - n :]) for a, n in zip(arrays, core)]
    return [function(*(a[at] for a in arrays)) for at in np.ndindex(batch)], batch, dtype


def _stacked(values: list[Any], batch: tuple[int, ...], dtype: Any) -> Val:
    return Val(np.array(values).reshape(batch + np.shape(values[0])), np.dtype(dtype))


def _finite(function: Any, shape_of: Any) -> Any:
    """The function, with results of nan if an argument contains a nan or an infinity."""

    def of(*arrays: Any) -> Any:
        if all(np.isfinite(a).all() for a in arrays):
            return function(*arrays)
        return np.full(shape_of(*arrays), np.nan)

    return of


def _lower_as_symmetric(a: np.ndarray, lower: bool) -> np.ndarray:
    half = np.tril(a) if lower else np.triu(a)
    return half + half.T - np.diag(np.diagonal(a))


@formula(ulps=2, backward=8, whole=True)
def eigvalsh(a: Any, b: Any = None, lower: bool = True) -> Val:
    function = _finite(
        lambda x: np.linalg.eigvalsh(_lower_as_symmetric(x, lower)), lambda x: x.shape[:1]
    )
    return _stacked(*_each([2], function, a))


@formula(ulps=2, backward=8, whole=True)
def eigh(a: Any, lower: bool = True) -> list[Val]:
    """The signs of the eigenvectors are LAPACK's choice, so this serves only for results that do not depend on them."""

    def of(x: np.ndarray) -> Any:
        if np.isfinite(x).all():
            return np.linalg.eigh(_lower_as_symmetric(x, lower))
        return np.full(x.shape[:1], np.nan), np.full(x.shape, np.nan)

    values, batch, dtype = _each([2], of, a)
    return [_stacked([v[k] for v in values], batch, dtype) for k in range(2)]


@formula(ulps=2, backward=8)
def lu_factor(a: Any) -> list[Val]:
    def of(x: np.ndarray) -> Any:
        if not x.size:
            return x, np.zeros(0, "int32")
        return scipy.linalg.lu_factor(x, check_finite=False)

    values, batch, dtype = _each([2], of, a)
    return [
        _stacked([v[0] for v in values], batch, dtype),
        _stacked([v[1] for v in values], batch, "int32"),
    ]


@formula(ulps=2, backward=8)
def lu(a: Any) -> list[Val]:
    values, batch, dtype = _each(
        [2], lambda x: scipy.linalg.lu(x) if x.size else (np.eye(len(x)), x, x), a
    )
    return [_stacked([v[k] for v in values], batch, dtype) for k in range(3)]


@formula(ulps=2, backward=8)
def lu_solve(lu_and_pivots: Any, b: Any, trans: bool = False, b_ndim: Any = None) -> Val:
    def of(factors: np.ndarray, pivots: np.ndarray, right: np.ndarray) -> np.ndarray:
        return (
            scipy.linalg.lu_solve(
                (factors, pivots.astype(int)), right, trans=int(trans), check_finite=False
            )
            if right.size
            else right
        )

    values, batch, _ = _each([2, 1, b_ndim or min(val(b).ndim, 2)], of, *lu_and_pivots, b)
    return _stacked(values, batch, _matrix_dtype(val(lu_and_pivots[0]), val(b)))


@formula(ulps=0)
def pivot_to_permutation(p: Any, inverse: bool = False) -> Val:
    def of(pivots: np.ndarray) -> np.ndarray:
        out = np.arange(len(pivots))
        for i, other in enumerate(pivots.astype(int)):
            out[[i, other]] = out[[other, i]]
        return out if inverse else np.argsort(out)

    values, batch, _ = _each([1], of, p)
    return _stacked(values, batch, "int64")


@formula(ulps=2, backward=8, whole=True)
def pinv(x: Any, rcond: float = -1) -> Val:
    def of(a: np.ndarray) -> np.ndarray:
        return np.linalg.pinv(a, rcond=max(a.shape) * np.finfo(float).eps if rcond < 0 else rcond)

    function = _finite(lambda a: of(a) if a.size else a.T, lambda a: a.T.shape)
    return _stacked(*_each([2], function, x))


@formula(ulps=2, backward=8, whole=True)
def lstsq(x: Any, y: Any, rcond: float = -1) -> list[Val]:
    def of(a: np.ndarray, b: np.ndarray) -> Any:
        solution, _, rank, s = np.linalg.lstsq(a, b, rcond=None if rcond < 0 else rcond)
        return solution, rank, s

    values, batch, dtype = _each([2, 2], of, x, y)
    return [
        _stacked([v[k] for v in values], batch, dt) for k, dt in enumerate([dtype, "int64", dtype])
    ]


def _exponential(x: np.ndarray) -> np.ndarray:
    """Series and repeated squaring in long double: SciPy's expm loses up to three digits at some norms."""
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


def _gradient_of_factor(factor: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Algorithm 2 of Murray 2016, from the last row to the first."""
    n, out = len(factor), np.tril(g).copy()
    for k in range(n - 1, -1, -1):
        row, column, below = factor[k, :k], factor[k + 1 :, k], factor[k + 1 :, :k]
        with np.errstate(all="ignore"):
            of_column = out[k + 1 :, k] / factor[k, k]
            diagonal = (out[k, k] - column @ of_column) / factor[k, k]
        out[k, :k] -= diagonal * row + of_column @ below
        out[k + 1 :, :k] -= np.outer(of_column, row)
        out[k + 1 :, k], out[k, k] = of_column, diagonal / 2
    return out


@formula(ulps=4, backward=8, whole=True)
def cholesky_gradient(factor: Any, g: Any) -> Val:
    return _stacked(*_each([2, 2], _gradient_of_factor, factor, g))


@formula(ulps=2, backward=8, whole=True)
def solve_sylvester(a: Any, b: Any, q: Any) -> Val:
    function = _finite(
        lambda x, y, z: scipy.linalg.solve_sylvester(x, y, z) if z.size else z,
        lambda x, y, z: z.shape,
    )
    return _stacked(*_each([2, 2, 2], function, a, b, q))


@formula(ulps=2, backward=8, whole=True)
def solve_discrete_are(a: Any, b: Any, q: Any, r: Any) -> Val:
    def of(x: np.ndarray, y: np.ndarray, z: np.ndarray, w: np.ndarray) -> np.ndarray:
        return scipy.linalg.solve_discrete_are(x, y, (z + z.T) / 2, (w + w.T) / 2) if x.size else x

    return _stacked(*_each([2] * 4, _finite(of, lambda x, *_: x.shape), a, b, q, r))


@formula(ulps=2, backward=8)
def solve_tridiagonal(dl: Any, d: Any, du: Any, b: Any) -> Val:
    def of(
        lower: np.ndarray, middle: np.ndarray, upper: np.ndarray, right: np.ndarray
    ) -> np.ndarray:
        if not len(middle):
            return right
        return np.linalg.solve(np.diag(lower, -1) + np.diag(middle) + np.diag(upper, 1), right)

    return _stacked(*_each([1, 1, 1, 2], of, dl, d, du, b))


@formula(ulps=2, backward=8, whole=True)
def solve_continuous_are(a: Any, b: Any, q: Any, r: Any) -> Val:
    def of(x: np.ndarray, y: np.ndarray, z: np.ndarray, w: np.ndarray) -> np.ndarray:
        return (
            scipy.linalg.solve_continuous_are(x, y, (z + z.T) / 2, (w + w.T) / 2) if x.size else x
        )

    return _stacked(*_each([2] * 4, _finite(of, lambda x, *_: x.shape), a, b, q, r))


@formula(ulps=2, backward=8)
def solve_banded(
    l_and_u: tuple[int, int], ab: Any, b: Any, b_ndim: Any = None, *, trans: bool = False
) -> Val:
    below, above = l_and_u

    def of(bands: np.ndarray, right: np.ndarray) -> np.ndarray:
        n = bands.shape[1]
        whole = np.zeros((n, n))
        for i in range(n):
            for j in range(max(0, i - below), min(n, i + above + 1)):
                whole[i, j] = bands[above + i - j, j]
        if not right.size or np.isfinite(whole).all():
            return np.linalg.solve(whole.T if trans else whole, right) if right.size else right
        return np.full(right.shape, np.nan)

    return _stacked(*_each([2, b_ndim or min(val(b).ndim, 2)], of, ab, b))


@formula(ulps=2, backward=8)
def tridiagonal_factors(lower: Any, d: Any, upper: Any) -> list[Val]:
    def of(below: np.ndarray, middle: np.ndarray, above: np.ndarray) -> Any:
        if all(np.isfinite(each).all() for each in (below, middle, above)):
            return _tridiagonal_factors(below, middle, above)
        n = len(middle)
        return [
            np.full(count, np.nan) for count in (max(n - 1, 0), n, max(n - 1, 0), max(n - 2, 0))
        ] + [np.arange(n)]

    values, batch, dtype = _each([1, 1, 1], of, lower, d, upper)
    return [_stacked([v[k] for v in values], batch, "int32" if k == 4 else dtype) for k in range(5)]


def _tridiagonal_factors(lower: np.ndarray, d: np.ndarray, upper: np.ndarray) -> list[np.ndarray]:
    """Elimination with partial pivoting as in LAPACK's gttrf, with pivots counted from 0."""
    n = len(d)
    below, middle, above, second = lower.copy(), d.copy(), upper.copy(), np.zeros(max(n - 2, 0))
    pivots = np.arange(n)
    for i in range(n - 1):
        if abs(middle[i]) >= abs(below[i]):
            if middle[i] != 0:
                below[i] /= middle[i]
                middle[i + 1] -= below[i] * above[i]
            continue
        factor = middle[i] / below[i]
        middle[i], below[i] = below[i], factor
        above[i], middle[i + 1] = middle[i + 1], above[i] - factor * middle[i + 1]
        if i < n - 2:
            second[i] = above[i + 1]
            above[i + 1] *= -factor
        pivots[i] = i + 1
    return [below, middle, above, second, pivots]


def tridiagonal_lu_factor(a: Any) -> list[Val]:
    a = val(a)
    return tridiagonal_factors(*(Val(np.diagonal(a.array, k, -2, -1), a.dtype) for k in (-1, 0, 1)))


@formula(ulps=2, backward=8)
def tridiagonal_lu_solve(
    a_diagonals: Any, b: Any, *, b_ndim: Any = None, transposed: bool = False
) -> Val:
    def of(
        below: np.ndarray,
        middle: np.ndarray,
        above: np.ndarray,
        second: np.ndarray,
        pivots: np.ndarray,
        right: np.ndarray,
    ) -> Any:
        n = len(middle)
        u = (
            np.diag(middle)
            + np.diag(above, 1)[:n, :n]
            + (np.diag(second, 2)[:n, :n] if n > 2 else 0)
            if n
            else np.zeros((0, 0))
        )
        a = u
        for i in range(n - 2, -1, -1):
            a = a.copy()
            a[i + 1] += below[i] * a[i]
            if int(pivots[i]) != i:
                a[[i, i + 1]] = a[[i + 1, i]]
        if not np.isfinite(a).all():
            return np.full(right.shape, np.nan)
        return np.linalg.solve(a.T if transposed else a, right) if right.size else right

    values, batch, _ = _each([1, 1, 1, 1, 1, b_ndim or min(val(b).ndim, 2)], of, *a_diagonals, b)
    return _stacked(values, batch, _matrix_dtype(val(a_diagonals[0]), val(b)))
