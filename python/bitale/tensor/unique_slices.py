"""Which slices along an axis are distinct, found by NumPy. What is distinct decides the length of the result, so that the
slices themselves are taken by their positions, with derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bitale._core import TensorType, TensorVariable, disconnected
from bitale.graph.basic import Apply
from bitale.graph.op import Op


class UniqueSlices(Op):
    __props__ = ("axis",)

    def __init__(self, axis: int):
        self.axis = axis

    def make_node(self, x: Any) -> Apply:
        return Apply(self, [x], [TensorType("int64", (length,))() for length in (None, x.type.shape[self.axis], None)])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        found = np.unique(inputs[0], return_index=True, return_inverse=True, return_counts=True, axis=self.axis)
        for storage, value in zip(output_storage, found[1:]):
            storage[0] = np.asarray(value, dtype="int64").reshape(-1)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False, False, False]]

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> list[Any]:
        return [disconnected()]


def unique_slices(x: TensorVariable, axis: int) -> list[TensorVariable]:
    """Of the distinct slices in lexicographical order: where each comes first, which of them each slice of x is, and how
    often each is there; int64 vectors."""
    return UniqueSlices(axis)(x)
