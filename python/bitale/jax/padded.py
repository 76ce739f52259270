"""Results whose lengths depend on data, padded to a bound so that XLA can represent them: indices, selections, distinct values.

They are expressions of other functions, and mean the same in every mode; each comes with the number
of valid entries. More entries than the bound raise a ValueError in a call, except in functions of
``as_jax``, which drop the last ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import bitale.tensor as pt
from bitale.raise_op import CheckAndRaise


def _bound(size: Any, who: str) -> int:
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 0:
        raise ValueError(
            f"{who}: size is the number of entries to make room for, an integer of 0 or more, got {size!r}"
        )
    return int(size)


def _indices(flags: Any, size: int, who: str) -> tuple[Any, Any, Any]:
    """The indices of the true elements of a vector, filled up to `size`; which of them count, and how many these are."""
    count = pt.sum(flags)
    check = CheckAndRaise(ValueError, f"{who}: there are more entries than size, {size}")
    count = check(count, pt.le(count, size))
    order = pt.argsort(pt.cast(pt.invert(flags), "int8"), stable=True)
    room = pt.concatenate([order, pt.zeros(size, dtype="int64")])[:size]
    return room, pt.lt(pt.arange(size), count), count


def nonzero(x: Any, size: int, fill_value: int = 0) -> tuple[Any, ...]:
    """Where x is not 0: for each dimension a vector of `size` positions in row-major order, and their number last.

    Vectors are padded with fill_value, as in ``jax.numpy.nonzero``. ValueError for a size that is
    not a nonnegative integer, and for a scalar.

    >>> rows, count = bt.jax.nonzero(pt.constant([0, 3, 0, 4]), size=3)
    >>> rows.eval(), count.eval()
    (array([1, 3, 0]), array(2))
    """
    size, x = _bound(size, "nonzero"), pt.as_tensor(x)
    if x.ndim == 0:
        raise ValueError("nonzero: expected a tensor of one dimension or more, got a scalar")
    indices, counts, count = _indices(pt.neq(x, 0).flatten(), size, "nonzero")
    # If x has no elements there is no position to decompose.
    lengths = [pt.maximum(n, 1) for n in x.shape]
    where = pt.unravel_index(pt.switch(counts, indices, 0), lengths) if x.ndim > 1 else [indices]
    return *(pt.switch(counts, each, fill_value) for each in where), count


def compress(mask: Any, x: Any, size: int, fill_value: Any = 0) -> tuple[Any, Any]:
    """The rows of x, along its first dimension, where the mask is true, then rows of fill_value up to `size`; and their number.

    As ``x[mask]``. ValueError for a mask that is not a bool vector, for a scalar x, and for a size
    as in `nonzero`.

    >>> rows, count = bt.jax.compress(pt.constant([True, False, True]), pt.constant([1.0, 2.0, 3.0]), size=4)
    >>> rows.eval(), count.eval()
    (array([1., 3., 0., 0.]), array(2))
    """
    size, mask, x = _bound(size, "compress"), pt.as_tensor(mask), pt.as_tensor(x)
    if mask.ndim != 1 or mask.dtype != "bool" or x.ndim == 0:
        raise ValueError(
            f"compress: expected a vector of bool and a tensor of one dimension or more, got {mask.type} and {x.type}"
        )
    return _taken(pt.specify_shape(mask, (x.shape[0],)), x, size, fill_value, "compress")


def _taken(mask: Any, x: Any, size: int, fill_value: Any, who: str) -> tuple[Any, Any]:
    indices, counts, count = _indices(mask, size, who)
    nothing = pt.full(
        (1, *x.shape[1:]), fill_value, dtype=x.dtype
    )  # the result for indices that do not count
    return pt.concatenate([x, nothing])[pt.switch(counts, indices, x.shape[0])], count


def unique(x: Any, size: int, fill_value: Any = 0) -> tuple[Any, Any]:
    """The distinct elements of x in increasing order, then fill_value up to `size`; and their number. nan counts once.

    >>> values, count = bt.jax.unique(pt.constant([3, 1, 3, 2]), size=5, fill_value=-1)
    >>> values.eval(), count.eval()
    (array([ 1,  2,  3, -1, -1], dtype=int8), array(3))
    """
    size, ordered = _bound(size, "unique"), pt.sort(pt.as_tensor(x).flatten())
    before, here = ordered[:-1], ordered[1:]
    differs = pt.neq(before, here)
    if ordered.dtype.startswith("float"):
        differs = pt.and_(differs, pt.invert(pt.and_(pt.isnan(before), pt.isnan(here))))
    first = pt.ones_like(ordered[:1], dtype="bool")
    return _taken(pt.concatenate([first, differs]), ordered, size, fill_value, "unique")
