"""Indexing and changed copies. PyTensor keeps the indices in two parts: which there are is the op's `idx_list`; what is computed of them
are inputs of the node."""

from __future__ import annotations

from typing import Any, Sequence

from pytensor.tensor.basic import Nonzero
from pytensor.tensor.subtensor import AdvancedIncSubtensor, AdvancedSubtensor, IncSubtensor, Subtensor

import bitale.tensor as pt
from bitale.pytensor.registry import NotConverted, converts


def _plain(x: Any) -> Any:
    """The index, as a number where it is known."""
    if isinstance(x, pt.TensorConstant) and x.ndim == 0 and x.dtype != "bool":
        return int(x.data)
    return x


def _index(entry: Any, given: Sequence[Any]) -> Any:
    def part(position: Any) -> Any:
        return None if position is None else _plain(given[position])

    if isinstance(entry, slice):
        return slice(part(entry.start), part(entry.stop), part(entry.step))
    return part(entry)


def indices(op: Any, given: Sequence[Any]) -> tuple[Any, ...]:
    """The index tuple of a node."""
    return tuple(_index(entry, given) for entry in op.idx_list)


@converts(Subtensor, AdvancedSubtensor)
def _subtensor(op: Any, node: Any, x: Any, *given: Any) -> Any:
    return x[indices(op, given)]


@converts(IncSubtensor, AdvancedIncSubtensor)
def _inc_subtensor(op: Any, node: Any, x: Any, y: Any, *given: Any) -> Any:
    if getattr(op, "ignore_duplicates", False):
        raise NotConverted("inc_subtensor that ignores repeated indices")
    y = y if y.dtype == x.dtype else pt.cast(y, x.dtype)
    index = indices(op, given)
    if not index:
        return pt.second(x, y) if op.set_instead_of_inc else x + y
    change = pt.set_subtensor if op.set_instead_of_inc else pt.inc_subtensor
    return change(x[index], y)


@converts(Nonzero)
def _nonzero(op: Any, node: Any, x: Any) -> Any:
    return list(pt.nonzero(x))
