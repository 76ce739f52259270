"""The largest or smallest elements along an axis."""

from __future__ import annotations

import operator
from typing import Any

from bitale._core import TensorVariable, argsort, as_tensor_variable, cast, specify_shape, take_along_axis

__all__ = ["argtopk", "topk", "topk_and_argtopk"]


def _positions(name: str, x: Any, kth: Any, axis: Any, idx_dtype: str) -> tuple[TensorVariable, TensorVariable, int]:
    if isinstance(kth, TensorVariable):
        raise NotImplementedError(f"{name}: kth as a variable; a number is expected")
    k = operator.index(kth)
    if k == 0:
        raise ValueError(f"{name}: kth is 0; it counts elements, the largest, or the smallest if negative")
    x = as_tensor_variable(x)
    if axis is None:
        x, axis = x.flatten(), 0
    order = argsort(x, axis)
    axis = axis + x.ndim if axis < 0 else axis
    kept = (slice(None),) * axis + ((slice(-k, None) if k > 0 else slice(-k)),)
    lengths: list[int | None] = [None] * x.ndim
    lengths[axis] = abs(k)
    return x, cast(specify_shape(order[kept], tuple(lengths)), idx_dtype), axis


def topk(x: Any, kth: int, axis: int | None = -1, sorted: bool = True, idx_dtype: str = "int64") -> TensorVariable:
    """The kth largest elements along an axis, in increasing order; the -kth smallest if kth is negative.

    axis: None for the flattened x. sorted and idx_dtype are accepted: the order is always increasing. ValueError for kth 0;
    a call in which the axis has fewer elements fails. Source: Theano's topk.

    >>> x = pt.dvector("x")
    >>> pt.topk(x, 2).eval({x: [3.0, 1.0, 4.0, 1.0, 5.0]})
    array([4., 5.])
    """
    return topk_and_argtopk(x, kth, axis, sorted, idx_dtype)[0]


def argtopk(x: Any, kth: int, axis: int | None = -1, sorted: bool = True, idx_dtype: str = "int64") -> TensorVariable:
    """The positions of the elements that topk gives.

    >>> x = pt.dvector("x")
    >>> pt.argtopk(x, -2).eval({x: [3.0, 1.0, 4.0, 0.0, 5.0]})
    array([3, 1])
    """
    return _positions("argtopk", x, kth, axis, idx_dtype)[1]


def topk_and_argtopk(
    x: Any, kth: int, axis: int | None = -1, sorted: bool = True, idx_dtype: str = "int64"
) -> tuple[TensorVariable, TensorVariable]:
    """What topk and argtopk give.

    >>> x = pt.dvector("x")
    >>> values, places = pt.topk_and_argtopk(x, 1)
    >>> bt.function([x], [values, places])([3.0, 7.0, 4.0])
    [array([7.]), array([1])]
    """
    x, places, along = _positions("topk", x, kth, axis, idx_dtype)
    return take_along_axis(x, places, along), places
