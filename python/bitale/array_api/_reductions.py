"""Reductions and running sums."""

from __future__ import annotations

from typing import Any

import numpy as np

import bitale.tensor as pt
from bitale.array_api._dtypes import as_dtype, as_symbolic, dtype_of
from bitale.array_api._eager import standard


def _numbers(x: Any, name: str, kinds: str) -> Any:
    x = as_symbolic(x)
    if dtype_of(x).kind not in kinds:
        raise TypeError(f"{name}: not defined for {x.dtype}")
    return x


def _accumulated(dtype: np.dtype[Any]) -> str:
    """Sums and products of integers have 64 bits."""
    return {"i": "int64", "u": "uint64"}.get(dtype.kind, dtype.name)


def _total(function: Any, name: str) -> Any:
    def reduce(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        x = _numbers(x, name, "iufc")
        target = _accumulated(dtype_of(x)) if dtype is None else as_dtype(dtype).name
        return pt.cast(function(pt.cast(x, target), axis=axis, keepdims=keepdims), target)

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = f"The {name} of the elements over axes, all by default. Integers give 64 bits."
    return standard(reduce)


sum = _total(pt.sum, "sum")
prod = _total(pt.prod, "prod")


@standard
def mean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The mean of floats over axes, all by default."""
    return pt.mean(_numbers(x, "mean", "fc"), axis=axis, keepdims=keepdims)


@standard
def var(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """The variance of floats over axes: squares of distances from the mean, divided by their number less a correction."""
    return pt.var(_numbers(x, "var", "f"), axis=axis, correction=correction, keepdims=keepdims)


@standard
def std(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """The standard deviation: the root of var."""
    return pt.std(_numbers(x, "std", "f"), axis=axis, correction=correction, keepdims=keepdims)


@standard
def max(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The largest element over axes, all by default."""
    return pt.max(_numbers(x, "max", "iuf"), axis=axis, keepdims=keepdims)


@standard
def min(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The smallest element over axes, all by default."""
    return pt.min(_numbers(x, "min", "iuf"), axis=axis, keepdims=keepdims)


@standard
def argmax(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """The position of the first of the largest elements."""
    return pt.argmax(_numbers(x, "argmax", "iuf"), axis=axis, keepdims=keepdims)


@standard
def argmin(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """The position of the first of the smallest elements."""
    return pt.argmin(_numbers(x, "argmin", "iuf"), axis=axis, keepdims=keepdims)


@standard
def all(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether all elements are true: not 0."""
    return pt.all(pt.neq(as_symbolic(x), 0), axis=axis, keepdims=keepdims)


@standard
def any(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether any element is true: not 0."""
    return pt.any(pt.neq(as_symbolic(x), 0), axis=axis, keepdims=keepdims)


@standard
def count_nonzero(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """How many elements are not 0."""
    return pt.count_nonzero(as_symbolic(x), axis=axis, keepdims=keepdims)


@standard
def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """Running sums along an axis, which vectors need not name; include_initial: from 0 on."""
    x = _numbers(x, "cumulative_sum", "iufc")
    target = _accumulated(dtype_of(x)) if dtype is None else as_dtype(dtype).name
    return pt.cumulative_sum(x, axis=axis, dtype=target, include_initial=include_initial)


@standard
def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """Running products along an axis, which vectors need not name; include_initial: from 1 on."""
    x = _numbers(x, "cumulative_prod", "iufc")
    target = _accumulated(dtype_of(x)) if dtype is None else as_dtype(dtype).name
    return pt.cumulative_prod(x, axis=axis, dtype=target, include_initial=include_initial)


@standard
def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours, taken n times; prepend and append are joined to x before."""
    return pt.diff(_numbers(x, "diff", "iufc"), n=n, axis=axis, prepend=prepend, append=append)
