"""Formulas of the functions that are not elementwise: shapes, joining, indexing, reductions, sorting, products."""

from __future__ import annotations

import builtins
from typing import Any, Sequence

import numpy as np

from . import elementwise as ew
from .values import Val, formula, in_any_order, val, working_dtype

# ---- lengths, axes ---------------------------------------------------------------------------------------------------


def number(x: Any) -> int:
    return int(x.array) if isinstance(x, Val) else int(x)


def lengths(shape: Any) -> tuple[int, ...]:
    if isinstance(shape, Val):
        return tuple(int(n) for n in np.atleast_1d(shape.array))
    if isinstance(shape, (list, tuple)):
        return tuple(number(n) for n in shape)
    return (number(shape),)


def spread(args: Sequence[Any]) -> Any:
    return args[0] if len(args) == 1 and isinstance(args[0], (list, tuple, Val)) else args


def keep(x: Any, function: Any, *args: Any) -> Val:
    """Applies a function that only moves elements, so that the dtype is x's."""
    x = val(x)
    return Val(function(x.array, *args), x.dtype)


# ---- shapes ----------------------------------------------------------------------------------------------------------


@formula()
def dimshuffle(x: Any, *pattern: Any) -> Val:
    x, pattern = val(x), spread(pattern)
    kept = [p for p in pattern if p != "x"]
    dropped = [axis for axis in range(x.ndim) if axis not in kept]
    if builtins.any(x.shape[axis] != 1 for axis in dropped):
        raise ValueError("dropped dimensions have length 1")
    moved = x.array.transpose(kept + dropped).reshape([x.shape[axis] for axis in kept])
    return Val(moved[tuple(None if p == "x" else slice(None) for p in pattern)], x.dtype)


@formula()
def transpose(x: Any, axes: Any = None) -> Val:
    return keep(x, np.transpose, axes)


@formula()
def expand_dims(x: Any, axis: Any) -> Val:
    return keep(x, np.expand_dims, axis)


@formula()
def squeeze(x: Any, axis: Any = None) -> Val:
    return keep(x, np.squeeze, axis)


@formula()
def swapaxes(x: Any, axis1: int, axis2: int) -> Val:
    return keep(x, np.swapaxes, axis1, axis2)


@formula()
def moveaxis(x: Any, source: Any, destination: Any) -> Val:
    return keep(x, np.moveaxis, source, destination)


@formula()
def shape(x: Any) -> Val:
    return Val(np.asarray(val(x).shape, np.int64).reshape(-1))


@formula()
def shape_i(x: Any, i: int) -> Val:
    return Val(np.int64(val(x).shape[i]))


@formula()
def reshape(x: Any, newshape: Any, ndim: Any = None) -> Val:
    return keep(x, np.reshape, lengths(newshape))


@formula()
def flatten(x: Any, ndim: int = 1) -> Val:
    x = val(x)
    head = x.shape[: ndim - 1]
    return keep(x, np.reshape, head + (int(np.prod(x.shape[ndim - 1 :], dtype=int)),))


@formula()
def specify_shape(x: Any, *given: Any) -> Val:
    x = val(x)
    expected = spread(given)
    expected = (
        lengths(expected)
        if isinstance(expected, Val)
        else [None if n is None else number(n) for n in expected]
    )
    if len(expected) != x.ndim or builtins.any(
        n is not None and n != m for n, m in zip(expected, x.shape)
    ):
        raise AssertionError(f"shape {x.shape}, expected {expected}")
    return x


@formula()
def alloc(value: Any, *given: Any) -> Val:
    return keep(value, lambda a: np.broadcast_to(a, lengths(spread(given))).copy())


@formula()
def broadcast_to(x: Any, shape: Any) -> Val:
    return keep(x, lambda a: np.broadcast_to(a, lengths(shape)).copy())


@formula()
def zeros(shape: Any, dtype: Any = None) -> Val:
    return Val(np.zeros(lengths(shape), dtype or "float64"))


@formula()
def ones(shape: Any, dtype: Any = None) -> Val:
    return Val(np.ones(lengths(shape), dtype or "float64"))


@formula()
def zeros_like(x: Any, dtype: Any = None) -> Val:
    return Val(np.zeros(val(x).shape, dtype or val(x).dtype))


@formula()
def ones_like(x: Any, dtype: Any = None) -> Val:
    return Val(np.ones(val(x).shape, dtype or val(x).dtype))


def _with_room(value: Any) -> Any:
    """A Python integer that is only repeated has 64 bits."""
    return (
        ew.cast(value, "int64") if isinstance(value, int) and not isinstance(value, bool) else value
    )


@formula()
def full(shape: Any, fill_value: Any, dtype: Any = None) -> Val:
    value = val(_with_room(fill_value))
    return alloc(ew.cast(value, dtype) if dtype is not None else value, lengths(shape))


@formula()
def full_like(a: Any, fill_value: Any, dtype: Any = None) -> Val:
    return ew.second(a, _with_room(fill_value) if dtype is None else ew.cast(fill_value, dtype))


@formula(ulps=1)
def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Val:
    if stop is None:
        start, stop = 0, start
    start, stop, step = val(start), val(stop), val(step)
    if dtype is None:
        dtype = ew.promoted(start, stop, step)
        if dtype.kind in "iub":
            dtype = np.dtype("int64")
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        a, b, c = (np.float64(v.array) for v in (start, stop, step))
        count = builtins.max(0, int(np.ceil((b - a) / c)))
        return Val((a + np.arange(count) * c).astype(working_dtype(dtype)), dtype)
    values = range(int(start.array), int(stop.array), int(step.array))
    return Val(np.asarray(list(values), dtype).reshape(-1))


@formula()
def constant(x: Any, name: Any = None, ndim: Any = None, dtype: Any = None) -> Val:
    return val(x) if dtype is None else ew.cast(x, dtype)


@formula()
def make_vector(*scalars: Any, dtype: Any = None) -> Val:
    vals = [val(x) for x in scalars]
    dtype = np.dtype(dtype or (ew.promoted(*vals) if vals else "float64"))
    parts = [ew.to_working(x, dtype) for x in vals]
    return Val(np.stack(parts) if parts else np.empty(0, dtype), dtype)


# ---- joining ---------------------------------------------------------------------------------------------------------


def _joined(tensors: Any, function: Any, axis: int) -> Val:
    vals = [val(x) for x in tensors]
    dtype = ew.promoted(*vals)
    return Val(function([ew.to_working(x, dtype) for x in vals], axis=axis), dtype)


@formula()
def concatenate(tensor_list: Any, axis: int = 0) -> Val:
    return _joined(tensor_list, np.concatenate, axis)


@formula()
def join(axis: int, *tensors: Any) -> Val:
    return _joined(spread(tensors), np.concatenate, axis)


@formula()
def stack(tensors: Any, axis: int = 0) -> Val:
    return _joined(tensors, np.stack, axis)


# ---- indexing --------------------------------------------------------------------------------------------------------


def _index(item: Any) -> Any:
    if isinstance(item, tuple):
        return tuple(_index(each) for each in item)
    if isinstance(item, slice):
        return slice(
            *(None if part is None else number(part) for part in (item.start, item.stop, item.step))
        )
    if isinstance(item, Val):
        return item.array if item.ndim or item.dtype == bool else int(item.array)
    if isinstance(item, list):
        return np.asarray(
            [number(n) if isinstance(n, Val) else n for n in item], None if item else np.int64
        )
    return item


class Part(Val):
    """x[index], with a reference to x and the index."""

    __slots__ = ()


def get_item(x: Val, index: Any) -> Val:
    index = _index(index)
    out = Part(np.array(x.array[index]), x.dtype)
    out._indexing = (x, index)
    return out


@formula(ulps=0)
def set_subtensor(part: Any, y: Any) -> Val:
    x, index = part._indexing
    out = x.array.copy()
    out[index] = val(y).array.astype(out.dtype)
    return Val(out, x.dtype)


@formula(ulps=1)
def inc_subtensor(part: Any, y: Any) -> Val:
    x, index = part._indexing
    out = x.array.copy()
    # NumPy 2.5.5 reads beyond operands that ufunc.at has to broadcast.
    np.add.at(out, index, np.broadcast_to(val(y).array.astype(out.dtype), out[index].shape))
    return Val(out, x.dtype)


@formula()
def take(a: Any, indices: Any, axis: Any = None, mode: str = "raise") -> Val:
    a, indices = val(a), val(indices)
    return Val(np.take(a.array, indices.array, axis=axis, mode=mode), a.dtype)


def _positions(a: Val) -> list[Val]:
    return [Val(i.astype(np.int64)) for i in np.nonzero(a.array)]


@formula()
def nonzero(a: Any, return_matrix: bool = False) -> Any:
    found = _positions(val(a))
    return stack(found) if return_matrix else tuple(found)


@formula()
def flatnonzero(a: Any) -> Val:
    return Val(np.flatnonzero(val(a).array).astype(np.int64))


@formula()
def nonzero_values(a: Any) -> Val:
    a = val(a)
    return Val(a.array[np.nonzero(a.array)], a.dtype)


@formula()
def compress(condition: Any, x: Any, axis: Any = None) -> Val:
    x = val(x)
    return Val(np.compress(val(condition).array != 0, x.array, axis=axis), x.dtype)


# ---- reductions ------------------------------------------------------------------------------------------------------


def _axes(axis: Any) -> Any:
    return tuple(axis) if isinstance(axis, (list, tuple)) else axis


def widened(dtype: np.dtype) -> np.dtype:
    return dtype if dtype.kind == "f" else np.dtype("uint64" if dtype.kind == "u" else "int64")


def _accumulated(function: Any, x: Any, axis: Any, dtype: Any, keepdims: bool) -> Val:
    x = val(x)
    out = widened(x.dtype) if dtype is None else np.dtype(dtype)
    inside = working_dtype("float64" if out.kind == "f" else out)
    return Val(function(x.array.astype(inside), axis=_axes(axis), keepdims=keepdims), out)


@formula(ulps=2, backward=8)
def sum(x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Val:
    return _accumulated(np.sum, x, axis, dtype, keepdims)


@formula(ulps=2, backward=8)
def prod(x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Val:
    x = val(x)
    for each in range(
        x.ndim
    ):  # the order of the factors decides whether a product overflows before a factor of 0
        if axis is None or each in np.atleast_1d(axis) % x.ndim:
            x = Val(in_any_order(x.array, each), x.dtype)
    return _accumulated(np.prod, x, axis, dtype, keepdims)


@formula()
def max(x: Any, axis: Any = None, keepdims: bool = False) -> Val:
    return keep(x, lambda a: np.max(a, axis=_axes(axis), keepdims=keepdims))


@formula()
def min(x: Any, axis: Any = None, keepdims: bool = False) -> Val:
    return keep(x, lambda a: np.min(a, axis=_axes(axis), keepdims=keepdims))


@formula()
def all(x: Any, axis: Any = None, keepdims: bool = False) -> Val:
    return Val(np.all(val(x).array, axis=_axes(axis), keepdims=keepdims))


@formula()
def any(x: Any, axis: Any = None, keepdims: bool = False) -> Val:
    return Val(np.any(val(x).array, axis=_axes(axis), keepdims=keepdims))


def _as_float(x: Any) -> Val:
    x = val(x)
    return x if x.dtype.kind == "f" else ew.cast(x, "float64")


def _averaged(array: np.ndarray, axes: Any, ddof: float, keepdims: bool) -> np.ndarray:
    chosen = range(array.ndim) if axes is None else axes if isinstance(axes, tuple) else (axes,)
    count = array.dtype.type(
        np.maximum(np.prod([array.shape[axis] for axis in chosen], dtype=float) - ddof, 0)
    )
    return np.asarray(np.sum(array, axis=axes, keepdims=keepdims)) / count


@formula(ulps=4, backward=8)
def mean(x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Val:
    x = _as_float(x)
    return Val(
        _averaged(x.array.astype(working_dtype("float64")), _axes(axis), 0, keepdims),
        dtype or x.dtype,
    )


@formula(ulps=8, backward=8)
def var(
    x: Any,
    axis: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    corrected: bool = False,
    correction: float | None = None,
) -> Val:
    x, axes = _as_float(x), _axes(axis)
    ddof = ddof if correction is None else correction
    array = x.array.astype(working_dtype("float64"))
    distance = array - _averaged(array, axes, 0, True)
    return Val(_averaged(distance * distance, axes, ddof, keepdims), x.dtype)


@formula(ulps=8, backward=8)
def std(
    x: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False, corrected: bool = False
) -> Val:
    return ew.table["sqrt"](var(x, axis, ddof, keepdims))


def _index_of_extreme(function: Any, x: Any, axis: Any, keepdims: bool) -> Val:
    array = val(x).array
    if not isinstance(axis, (list, tuple)):
        return Val(np.asarray(function(array, axis=axis, keepdims=keepdims), np.int64))
    axes = sorted(each % array.ndim for each in axis)
    kept = [each for each in range(array.ndim) if each not in axes]
    size = int(np.prod([array.shape[each] for each in axes]))
    flat = array.transpose(kept + axes).reshape([array.shape[each] for each in kept] + [size])
    index = np.asarray(function(flat, axis=-1), np.int64)
    return Val(np.expand_dims(index, axes) if keepdims else index)


@formula()
def argmax(x: Any, axis: Any = None, keepdims: bool = False) -> Val:
    return _index_of_extreme(np.argmax, x, axis, keepdims)


@formula()
def argmin(x: Any, axis: Any = None, keepdims: bool = False) -> Val:
    return _index_of_extreme(np.argmin, x, axis, keepdims)


@formula()
def max_and_argmax(x: Any, axis: Any = None, keepdims: bool = False) -> tuple[Val, Val]:
    return max(x, axis, keepdims), argmax(x, axis, keepdims)


@formula()
def ptp(a: Any, axis: Any = None) -> Val:
    return ew.table["sub"](max(a, axis), min(a, axis))


def _running(function: Any, x: Any, axis: Any) -> Val:
    x = val(x)
    dtype = widened(x.dtype)
    return Val(function(x.array.astype(working_dtype(dtype)), axis=axis), dtype)


@formula(ulps=2, backward=16)
def cumsum(x: Any, axis: Any = None) -> Val:
    return _running(np.cumsum, x, axis)


@formula(ulps=2, backward=16)
def cumprod(x: Any, axis: Any = None) -> Val:
    return _running(np.cumprod, x, axis)


@formula(ulps=2, backward=2)
def diff(x: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Val:
    more = {
        name: val(each).array
        for name, each in (("prepend", prepend), ("append", append))
        if each is not None
    }
    return keep(
        x,
        lambda a: np.diff(
            a, n, axis, **{name: each.astype(a.dtype) for name, each in more.items()}
        ),
    )


def _shifted(x: Val, axes: Any) -> tuple[np.ndarray, np.ndarray]:
    high = np.max(x.array, axis=axes, keepdims=True)
    shift = np.where(np.isinf(high), 0, high)
    return x.array - shift, shift


@formula(ulps=8, backward=4)
def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Val:
    x, axes = _as_float(x), _axes(axis)
    low, shift = _shifted(x, axes)
    out = np.log(np.sum(np.exp(low), axis=axes, keepdims=True)) + shift
    return Val(out if keepdims else np.squeeze(out, axes), x.dtype)


@formula(ulps=8, backward=4)
def softmax(x: Any, axis: Any = None) -> Val:
    x, axes = _as_float(x), _axes(axis)
    powers = np.exp(x.array - np.max(x.array, axis=axes, keepdims=True))
    return Val(powers / np.sum(powers, axis=axes, keepdims=True), x.dtype)


@formula(ulps=8, backward=4)
def log_softmax(x: Any, axis: Any = None) -> Val:
    x, axes = _as_float(x), _axes(axis)
    low = x.array - np.max(x.array, axis=axes, keepdims=True)
    return Val(low - np.log(np.sum(np.exp(low), axis=axes, keepdims=True)), x.dtype)


# ---- sorting, products -----------------------------------------------------------------------------------------------


@formula()
def sort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, descending: bool = False
) -> Val:
    out = keep(a, lambda x: np.sort(x, axis=axis, kind="stable"))
    return keep(out, lambda x: np.flip(x, -1 if axis is None else axis)) if descending else out


@formula()
def argsort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, descending: bool = False
) -> Val:
    array = val(a).array.ravel() if axis is None else val(a).array
    along = -1 if axis is None else axis
    if not descending:
        return Val(np.argsort(array, axis=along, kind="stable").astype(np.int64))
    # From behind, so that equal elements keep their order.
    order = np.flip(np.argsort(np.flip(array, along), axis=along, kind="stable"), along)
    return Val((array.shape[along] - 1 - order).astype(np.int64))


def _product(function: Any, x: Any, y: Any) -> Val:
    x, y = val(x), val(y)
    dtype = ew.promoted(x, y)
    inside = working_dtype(dtype)
    return Val(function(x.array.astype(inside), y.array.astype(inside)), dtype)


@formula(ulps=2, backward=8)
def dot(x: Any, y: Any) -> Val:
    return _product(np.dot, x, y)


@formula(ulps=2, backward=8)
def matmul(x: Any, y: Any) -> Val:
    return _product(np.matmul, x, y)


@formula(ulps=1)
def outer(x: Any, y: Any) -> Val:
    return _product(np.multiply.outer, x, y)


# ---- matrices --------------------------------------------------------------------------------------------------------


@formula()
def assume(x: Any, **facts: Any) -> Val:
    return val(x)


@formula()
def tril(m: Any, k: int = 0) -> Val:
    return keep(m, np.tril, k)


@formula()
def triu(m: Any, k: int = 0) -> Val:
    return keep(m, np.triu, k)


@formula()
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Val:
    return keep(a, np.diagonal, offset, axis1, axis2)


@formula()
def extract_diag(
    x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, view: bool = False
) -> Val:
    return keep(x, np.diagonal, offset, axis1, axis2)


@formula()
def diag(v: Any, k: int = 0) -> Val:
    return keep(v, np.diag, k)


@formula(ulps=1, backward=8)
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Val:
    return table["sum"](diagonal(a, offset, axis1, axis2), axis=-1)


@formula()
def eye(n: Any, m: Any = None, k: int = 0, dtype: Any = None) -> Val:
    return Val(np.eye(number(n), number(n if m is None else m), k, dtype=dtype or "float64"))


def _matrix_dtype(*xs: Val) -> np.dtype:
    return np.dtype(
        "float32"
        if np.result_type(*(x.dtype for x in xs)) in (np.float16, np.float32)
        else "float64"
    )


def _cholesky_of(a: np.ndarray, on_error: str) -> np.ndarray:
    """Factors one matrix in its own precision, reading only the lower triangle."""
    out = np.zeros_like(a)
    for j in range(len(a)):
        pivot = a[j, j] - (out[j, :j] ** 2).sum()
        if not pivot > 0:
            if on_error == "nan":
                return np.full_like(a, np.nan)
            raise np.linalg.LinAlgError(f"the leading minor of order {j + 1} is not positive")
        out[j, j] = np.sqrt(pivot)
        out[j + 1 :, j] = (a[j + 1 :, j] - out[j + 1 :, :j] @ out[j, :j]) / out[j, j]
    return out


@formula(ulps=8, backward=8)
def cholesky(
    x: Any,
    lower: bool = True,
    *,
    check_finite: bool = True,
    overwrite_a: bool = False,
    on_error: str = "raise",
) -> Val:
    x = val(x)
    dtype = _matrix_dtype(x)
    a = x.array.astype(working_dtype(dtype))
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"shape {a.shape}")
    out = np.empty_like(a)
    for at in np.ndindex(a.shape[:-2]):
        out[at] = _cholesky_of(a[at], on_error) if lower else _cholesky_of(a[at].T, on_error).T
    return Val(out, dtype)


def _solve_of(
    a: np.ndarray, b: np.ndarray, lower: bool, unit: bool, on_error: str = "raise"
) -> np.ndarray:
    out = b.copy()
    n = len(a)
    if on_error == "nan" and not unit and (np.diagonal(a) == 0).any():
        return np.full_like(b, np.nan)
    for i in range(n) if lower else range(n - 1, -1, -1):
        known = slice(0, i) if lower else slice(i + 1, n)
        out[i] -= (
            (a[i, known, None] * out[known]).sum(0)
            if b.ndim == 2
            else (a[i, known] * out[known]).sum()
        )
        if not unit:
            if a[i, i] == 0:
                raise np.linalg.LinAlgError(f"the diagonal is 0 at index {i}")
            out[i] /= a[i, i]
    return out


@formula(ulps=2, backward=8)
def solve_triangular(a: Any, b: Any, *, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False,
                     check_finite: bool = True, b_ndim: Any = None, on_error: str = "raise") -> Val:  # fmt: skip
    a, b = val(a), val(b)
    dtype, core = _matrix_dtype(a, b), b_ndim or min(b.ndim, 2)
    x, y = a.array.astype(working_dtype(dtype)), b.array.astype(working_dtype(dtype))
    if x.shape[-1] != x.shape[-2] or y.shape[-core] != x.shape[-1]:
        raise ValueError(f"shapes {x.shape}, {y.shape}")
    if trans not in (0, "N"):
        x, lower = np.swapaxes(x, -1, -2), not lower
    batch = np.broadcast_shapes(x.shape[:-2], y.shape[: y.ndim - core])
    x, y = (
        np.broadcast_to(x, batch + x.shape[-2:]),
        np.broadcast_to(y, batch + y.shape[y.ndim - core :]),
    )
    out = np.empty(y.shape, y.dtype)
    for at in np.ndindex(batch):
        out[at] = _solve_of(x[at], y[at], lower, unit_diagonal, on_error)
    return Val(out, dtype)


def _factored(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """LU factors of one matrix in its own precision, and the row permutation."""
    m, order = a.copy(), np.arange(len(a))
    for k in range(len(a)):
        best = k + int(np.argmax(np.abs(m[k:, k])))
        m[[k, best]], order[[k, best]] = m[[best, k]], order[[best, k]]
        if m[k, k] != 0:
            m[k + 1 :, k] /= m[k, k]
            m[k + 1 :, k + 1 :] -= np.multiply.outer(m[k + 1 :, k], m[k, k + 1 :])
    return m, order


def _parity(order: np.ndarray) -> int:
    """1 for an even permutation, -1 for an odd one."""
    order, sign = order.copy(), 1
    for i in range(len(order)):
        while order[i] != i:
            j = order[i]
            order[[i, j]] = order[[j, i]]
            sign = -sign
    return sign


@formula(ulps=2, backward=8)
def solve(a: Any, b: Any, *, lower: bool = False, overwrite_a: bool = False, overwrite_b: bool = False,
          check_finite: bool = True, assume_a: str = "gen", transposed: bool = False, b_ndim: Any = None,
          on_error: str = "raise") -> Val:  # fmt: skip
    a, b = val(a), val(b)
    dtype, core = _matrix_dtype(a, b), b_ndim or min(b.ndim, 2)
    x, y = a.array.astype(working_dtype(dtype)), b.array.astype(working_dtype(dtype))
    if x.shape[-1] != x.shape[-2] or y.shape[-core] != x.shape[-1]:
        raise ValueError(f"shapes {x.shape}, {y.shape}")
    if assume_a in ("pos", "sym", "her"):
        keep_triangle = np.tril if lower else np.triu
        half = keep_triangle(x, -1 if lower else 1)
        x = keep_triangle(x) + np.swapaxes(half, -1, -2)
    elif assume_a == "lower triangular":
        x = np.tril(x)
    elif assume_a == "upper triangular":
        x = np.triu(x)
    elif assume_a in ("diagonal", "tridiagonal"):
        beside = 1 if assume_a == "tridiagonal" else 0
        x = np.tril(np.triu(x, -beside), beside)
    if transposed:
        x = np.swapaxes(x, -1, -2)
    batch = np.broadcast_shapes(x.shape[:-2], y.shape[: y.ndim - core])
    x, y = (
        np.broadcast_to(x, batch + x.shape[-2:]),
        np.broadcast_to(y, batch + y.shape[y.ndim - core :]),
    )
    out = np.empty(y.shape, y.dtype)
    for at in np.ndindex(batch):
        factor, order = _factored(x[at])
        out[at] = _solve_of(
            factor, _solve_of(factor, y[at][order], True, True), False, False, on_error
        )
    return Val(out, dtype)


@formula(ulps=2, backward=8)
def inv(x: Any) -> Val:
    x = val(x)
    return solve(x, Val(np.eye(x.shape[-1], dtype=_matrix_dtype(x))), b_ndim=2)


def _logarithm(a: np.ndarray) -> tuple[Any, Any]:
    factor, order = _factored(a)
    pivots = np.diagonal(factor)
    sign = np.prod(np.sign(pivots)) * _parity(order)
    return sign, np.log(np.abs(pivots)).sum() if sign else -np.inf


def _of_each(x: Any, function: Any, outputs: int) -> list[Val]:
    x = val(x)
    dtype = _matrix_dtype(x)
    a = x.array.astype(working_dtype(dtype))
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"shape {a.shape}")
    out = [np.empty(a.shape[:-2], a.dtype) for _ in range(outputs)]
    for at in np.ndindex(a.shape[:-2]):
        for target, value in zip(out, function(a[at])):
            target[at] = value
    return [Val(each, dtype) for each in out]


@formula(ulps=2, backward=8)
def det(x: Any) -> Val:
    def of(a: np.ndarray) -> list[Any]:
        factor, order = _factored(a)
        return [np.prod(np.diagonal(factor)) * _parity(order)]

    return _of_each(x, of, 1)[0]


@formula(ulps=2, backward=8)
def slogdet(x: Any) -> list[Val]:
    return _of_each(x, _logarithm, 2)


@formula(ulps=2, backward=8)
def cho_solve(
    c_and_lower: Any,
    b: Any,
    *,
    overwrite_b: bool = False,
    check_finite: bool = True,
    b_ndim: Any = None,
) -> Val:
    c, lower = c_and_lower
    half = solve_triangular(c, b, trans=0 if lower else 1, lower=lower, b_ndim=b_ndim)
    return solve_triangular(c, half, trans=1 if lower else 0, lower=lower, b_ndim=b_ndim)


table = {
    name: value
    for name, value in globals().items()
    if getattr(value, "__wrapped__", None) is not None
}
