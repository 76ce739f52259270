"""Searching, sorting and sets."""

from __future__ import annotations

from typing import Any, NamedTuple

import bitale.tensor as pt
from bitale.array_api._dtypes import as_operands, as_symbolic, dtype_of, of_kinds
from bitale.array_api._eager import standard


@standard
def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The positions that sort takes its elements from; equal elements keep their order."""
    return pt.argsort(of_kinds(x, "argsort", "iuf"), axis=axis, descending=descending)


@standard
def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The elements in increasing or decreasing order. nan is last in increasing order, and first in decreasing order."""
    return pt.sort(of_kinds(x, "sort", "iuf"), axis=axis, descending=descending)


@standard
def nonzero(x: Any, /) -> Any:
    """The positions of the elements that are not 0: a vector for each dimension."""
    x = as_symbolic(x)
    if x.ndim == 0:
        raise ValueError("nonzero: expected at least one dimension")
    return tuple(pt.nonzero(x))


@standard
def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
    """Where the elements of x2 would be inserted into the sorted vector x1."""
    x1, x2 = as_operands(x1, x2)
    return pt.searchsorted(of_kinds(x1, "searchsorted", "iuf"), x2, side=side, sorter=sorter)


@standard
def where(condition: Any, x1: Any, x2: Any, /) -> Any:
    """x1 where the condition holds, else x2."""
    condition = as_symbolic(condition)
    if dtype_of(condition).kind != "b":
        raise TypeError(f"where: expected a condition of dtype bool, got {condition.dtype}")
    return pt.switch(condition, *as_operands(x1, x2))


@standard
def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
    """The elements at positions along an axis, which may be left out for vectors."""
    x = as_symbolic(x)
    if axis is None and x.ndim != 1:
        raise ValueError(f"take: expected an axis for an array of {x.ndim} dimensions")
    return pt.take(x, indices, axis=0 if axis is None else axis)


@standard
def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """The elements at positions along an axis, which are given for each of the others."""
    return pt.take_along_axis(as_symbolic(x), indices, axis=axis)


@standard
def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Any:
    """For each element of x1, whether it is one of x2."""
    x1, x2 = as_operands(x1, x2)
    return pt.isin(x1, x2, invert=invert)


class UniqueAll(NamedTuple):
    """Result of unique_all."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    """Result of unique_counts."""

    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    """Result of unique_inverse."""

    values: Any
    inverse_indices: Any


def _unique(x: Any) -> UniqueAll:
    """Distinct elements in increasing order, complex numbers lexicographically. Each nan is distinct from the others."""
    x = as_symbolic(x)
    flat = x.flatten()
    kind = dtype_of(x).kind
    keys = [pt.imag(flat), pt.real(flat)] if kind == "c" else [flat]
    order = pt.lexsort(keys)
    sorted_ = flat[order]
    n = flat.shape[0]
    is_first = pt.concatenate(
        [pt.ones((pt.minimum(n, 1),), dtype="bool"), pt.neq(sorted_[1:], sorted_[:-1])]
    )
    starts = pt.flatnonzero(is_first)
    counts = pt.diff(pt.concatenate([starts, n.reshape((1,))])) if kind else None
    inverse = (
        pt.zeros((n,), dtype="int64")[order]
        .set(pt.cumsum(is_first) - 1)
        .reshape(x.shape, ndim=x.ndim)
    )
    return UniqueAll(sorted_[starts], order[starts], inverse, counts)


@standard
def unique_all(x: Any, /) -> UniqueAll:
    """The distinct elements, where each is first, which of them each element is, and how often each is found."""
    return _unique(x)


@standard
def unique_counts(x: Any, /) -> UniqueCounts:
    """The distinct elements, and how often each is found."""
    found = _unique(x)
    return UniqueCounts(found.values, found.counts)


@standard
def unique_inverse(x: Any, /) -> UniqueInverse:
    """The distinct elements, and which of them each element is."""
    found = _unique(x)
    return UniqueInverse(found.values, found.inverse_indices)


@standard
def unique_values(x: Any, /) -> Any:
    """The distinct elements."""
    return _unique(x).values
