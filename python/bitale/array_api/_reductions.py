"""Reductions and running sums."""

from __future__ import annotations

from typing import Any

import numpy as np

import bitale.tensor as pt
from bitale.array_api._dtypes import as_dtype, dtype_of, of_kinds
from bitale.array_api._eager import named, standard


def _accumulated(dtype: np.dtype[Any]) -> str:
    """Sums and products of integers have 64 bits."""
    return {"i": "int64", "u": "uint64"}.get(dtype.kind, dtype.name)


def _total(function: Any, name: str) -> Any:
    def reduce(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        x = of_kinds(x, name, "iufc")
        target = _accumulated(dtype_of(x)) if dtype is None else as_dtype(dtype).name
        return pt.cast(function(pt.cast(x, target), axis=axis, keepdims=keepdims), target)

    return named(
        reduce,
        name,
        f"The {name} of the elements over axes, all by default. Integers give 64 bits.",
    )


sum = _total(pt.sum, "sum")
prod = _total(pt.prod, "prod")


def _of_axes(name: str, kinds: str, compute: Any, doc: str) -> Any:
    def reduce(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
        return compute(of_kinds(x, name, kinds), axis=axis, keepdims=keepdims)

    return named(reduce, name, doc)


def _is_true(function: Any) -> Any:
    return lambda x, **options: function(pt.neq(x, 0), **options)


def _spread(name: str, compute: Any, doc: str) -> Any:
    def reduce(
        x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False
    ) -> Any:
        return compute(of_kinds(x, name, "f"), axis=axis, correction=correction, keepdims=keepdims)

    return named(reduce, name, doc)


mean = _of_axes("mean", "fc", pt.mean, "The mean of floats over axes, all by default.")
max = _of_axes("max", "iuf", pt.max, "The largest element over axes, all by default.")
min = _of_axes("min", "iuf", pt.min, "The smallest element over axes, all by default.")
argmax = _of_axes("argmax", "iuf", pt.argmax, "The position of the first of the largest elements.")
argmin = _of_axes("argmin", "iuf", pt.argmin, "The position of the first of the smallest elements.")
all = _of_axes("all", "biufc", _is_true(pt.all), "Whether all elements are true: not 0.")
any = _of_axes("any", "biufc", _is_true(pt.any), "Whether any element is true: not 0.")
count_nonzero = _of_axes("count_nonzero", "biufc", pt.count_nonzero, "How many elements are not 0.")
var = _spread(
    "var",
    pt.var,
    "The variance of floats over axes: squares of distances from the mean, divided by their number less a correction.",
)
std = _spread("std", pt.std, "The standard deviation: the root of var.")


@standard
def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """Running sums along an axis, which may be left out for vectors; include_initial: begin with 0."""
    x = of_kinds(x, "cumulative_sum", "iufc")
    target = _accumulated(dtype_of(x)) if dtype is None else as_dtype(dtype).name
    return pt.cumulative_sum(x, axis=axis, dtype=target, include_initial=include_initial)


@standard
def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """Running products along an axis, which may be left out for vectors; include_initial: begin with 1."""
    x = of_kinds(x, "cumulative_prod", "iufc")
    target = _accumulated(dtype_of(x)) if dtype is None else as_dtype(dtype).name
    return pt.cumulative_prod(x, axis=axis, dtype=target, include_initial=include_initial)


@standard
def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours, taken n times; prepend and append are joined to x before."""
    return pt.diff(of_kinds(x, "diff", "iufc"), n=n, axis=axis, prepend=prepend, append=append)
