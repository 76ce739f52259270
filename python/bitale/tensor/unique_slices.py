"""Distinct elements, and distinct slices along an axis, found by NumPy. Their number determines the length of the
result; the slices themselves are taken by position, with derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bitale._core import (  # type: ignore[attr-defined]
    AxisError,
    TensorType,
    TensorVariable,
    _unique,
    as_tensor_variable,
    disconnected,
    take,
)
from bitale.graph.basic import Apply
from bitale.graph.op import Op

__all__ = ["unique"]


class UniqueSlices(Op):
    __props__ = ("axis",)

    def __init__(self, axis: int):
        self.axis = axis

    def make_node(self, x: Any) -> Apply:
        return Apply(
            self,
            [x],
            [TensorType("int64", (length,))() for length in (None, x.type.shape[self.axis], None)],
        )

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        found = np.unique(
            inputs[0], return_index=True, return_inverse=True, return_counts=True, axis=self.axis
        )
        for storage, value in zip(output_storage, found[1:]):
            storage[0] = np.asarray(value, dtype="int64").reshape(-1)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False, False, False]]

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> list[Any]:
        return [disconnected()]


def unique_slices(x: TensorVariable, axis: int) -> list[TensorVariable]:
    """For the distinct slices in lexicographical order: where each occurs first, which of them each slice of x is, and how often each occurs; int64 vectors."""
    out: list[TensorVariable] = UniqueSlices(axis)(x)
    return out


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
) -> Any:
    """Sorted distinct elements of a tensor.

    Parameters
    ----------
    ar : tensor_like
        Tensor; it is flattened unless `axis` is given.
    return_index : bool
        Also return the indices of the first occurrences.
    return_inverse : bool
        Also return the indices that rebuild `ar` from the result.
    return_counts : bool
        Also return the number of occurrences of each.
    axis : int, optional
        Compare the slices along this axis, lexicographically.

    Returns
    -------
    TensorVariable or tuple of TensorVariable
        The distinct elements in increasing order, nan once and last; or a tuple of them and the
        requested indices and counts.

    Raises
    ------
    AxisError
        If `ar` does not have the axis.

    See Also
    --------
    sort, bincount

    Examples
    --------
    >>> pt.unique(np.array([3, 1, 3, 2])).eval()
    array([1, 2, 3])
    """
    ar = as_tensor_variable(ar)
    if axis is not None and not -ar.ndim <= axis < ar.ndim:
        raise AxisError(
            f"unique: axis {axis} is out of bounds for a tensor of {ar.ndim} dimensions"
        )
    if axis is None or ar.ndim == 1:
        values, index, inverse, counts = _unique(ar)
    else:
        index, inverse, counts = unique_slices(ar, axis % ar.ndim)
        values = take(ar, index, axis=axis)
    asked = [
        each
        for each, wanted in (
            (index, return_index),
            (inverse, return_inverse),
            (counts, return_counts),
        )
        if wanted
    ]
    return (values, *asked) if asked else values
