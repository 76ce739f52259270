"""Indexing and changed copies. PyTensor keeps the indices in two parts: which there are is the op's `idx_list`; what is computed of them
are inputs of the node."""

from __future__ import annotations

from typing import Any, Iterator, Sequence

from pytensor.tensor.basic import Nonzero
from pytensor.tensor.subtensor import IncSubtensor, Subtensor
from pytensor.tensor.type_other import MakeSlice

import bitale.tensor as pt
from bitale.pytensor.op_imports import ADVANCED_CHANGE, ADVANCED_INDEX
from bitale.pytensor.registry import NotConverted, converts


def _plain(x: Any) -> Any:
    """The index, as a number where it is known."""
    if isinstance(x, pt.TensorConstant) and x.ndim == 0 and x.dtype != "bool":
        return int(x.data)
    return x


def _index(entry: Any, given: Sequence[Any], following: Iterator[Any]) -> Any:
    def part(position: Any) -> Any:
        if position is None:
            return None
        # In PyTensor 2.38 idx_list contains types instead of positions; the inputs follow in order.
        return _plain(given[position] if isinstance(position, int) else next(following))

    if isinstance(entry, slice):
        return slice(part(entry.start), part(entry.stop), part(entry.step))
    return part(entry)


def indices(op: Any, given: Sequence[Any]) -> tuple[Any, ...]:
    """The index tuple of a node."""
    if not hasattr(op, "idx_list"):  # advanced indexing in PyTensor 2.38: all indices are inputs
        return tuple(
            slice(*map(_plain, (x.start, x.stop, x.step))) if isinstance(x, slice) else _plain(x)
            for x in given
        )
    following = iter(given)
    return tuple(_index(entry, given, following) for entry in op.idx_list)


@converts(Subtensor, *ADVANCED_INDEX)
def _subtensor(op: Any, node: Any, x: Any, *given: Any) -> Any:
    return x[indices(op, given)]


def _selects_rows(op: Any, node: Any) -> bool:
    """Whether the index is one vector of integers."""
    if (
        not isinstance(op, ADVANCED_CHANGE)
        or node.inputs[2].type.ndim != 1
        or node.inputs[2].type.dtype == "bool"
    ):
        return False
    # PyTensor 2.38 has a class for it, and no list of indices.
    return type(op).__name__ == "AdvancedIncSubtensor1" or getattr(op, "idx_list", None) == (0,)


@converts(IncSubtensor, *ADVANCED_CHANGE)
def _inc_subtensor(op: Any, node: Any, x: Any, y: Any, *given: Any) -> Any:
    if getattr(op, "ignore_duplicates", False):
        raise NotConverted("inc_subtensor that ignores repeated indices")
    if x.dtype == "float16":  # Bitale's ops change it as float32, too
        return pt.cast(_inc_subtensor(op, node, pt.cast(x, "float32"), y, *given), "float16")
    y = y if y.dtype == x.dtype else pt.cast(y, x.dtype)
    index = indices(op, given)
    if not index:
        return pt.second(x, y) if op.set_instead_of_inc else x + y
    change = pt.set_subtensor if op.set_instead_of_inc else pt.inc_subtensor
    changed: Any = change(x[index], y)
    if not _selects_rows(op, node):
        return changed
    # PyTensor repeats values of rows only along lengths that their type gives as 1. So does Bitale's op, without what is put before it.
    return changed.owner.op(x, y, *changed.owner.inputs[2:])


@converts(MakeSlice)
def _make_slice(op: Any, node: Any, *parts: Any) -> Any:
    return slice(*parts)


@converts(Nonzero)
def _nonzero(op: Any, node: Any, x: Any) -> Any:
    return list(pt.nonzero(x))
