"""Reductions, cumulative ones, and what goes with sorting."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytensor.scalar.basic as ps
from pytensor.tensor.elemwise import CAReduce
from pytensor.tensor.extra_ops import CumOp, Repeat, SearchsortedOp, Unique
from pytensor.tensor.math import Argmax, ProdWithoutZeros
from pytensor.tensor.sort import ArgSortOp, SortOp

import bitale.tensor as pt
from bitale.pytensor.registry import NotConverted, converts, forwards


def _summing(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduce(op: Any, node: Any, x: Any) -> Any:
        return function(x, axis=op.axis, dtype=node.outputs[0].type.dtype, acc_dtype=op.acc_dtype)

    return reduce


def _extreme(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduce(op: Any, node: Any, x: Any) -> Any:
        if getattr(op, "initial", False):
            x = _with_initial(op, x)
        return function(x, axis=op.axis)

    return reduce


def _with_initial(op: Any, x: Any) -> Any:
    """x with the initial value among the elements of each reduction, unless there are others for sure."""
    axes = range(x.ndim) if op.axis is None else op.axis
    for axis in (axis for axis in axes if x.type.shape[axis] in (None, 0)):
        lengths = [1 if k == axis else pt.shape_i(x, k) for k in range(x.ndim)]
        x = pt.join(axis, x, pt.full(lengths, np.asarray(op.initial_value(x.dtype), x.dtype)))
    return x


def _logical(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduce(op: Any, node: Any, x: Any) -> Any:
        if x.dtype != "bool":
            raise NotConverted("a reduction of the bits of integers")
        return function(x, axis=op.axis)

    return reduce


# By the scalar op that combines two elements.
_REDUCTIONS = (
    (ps.Add, _summing(pt.sum)),
    (ps.Mul, _summing(pt.prod)),
    (ps.Maximum, _extreme(pt.max)),
    (ps.Minimum, _extreme(pt.min)),
    (ps.AND, _logical(pt.all)),
    (ps.OR, _logical(pt.any)),
)


@converts(CAReduce)
def _reduce(op: Any, node: Any, x: Any) -> Any:
    # PyMC's graphs have sums over an axis of a number, as NumPy allows; PyTensor's rewriting removes them.
    if op.axis == () or (x.ndim == 0 and not getattr(op, "initial", False)):
        return x
    for scalar_op, reduce in _REDUCTIONS:
        if isinstance(op.scalar_op, scalar_op):
            return reduce(op, node, x)
    raise NotConverted(f"Bitale has no reduction by {op.scalar_op}")


@converts(ProdWithoutZeros)
def _prod_without_zeros(op: Any, node: Any, x: Any) -> Any:
    return _summing(pt.prod)(op, node, pt.switch(pt.eq(x, 0), pt.ones_like(x), x))


converts(Argmax)(forwards(pt.argmax, "axis"))
converts(Repeat)(forwards(pt.repeat, "axis"))


@converts(CumOp)
def _cumulative(op: Any, node: Any, x: Any) -> Any:
    return {"add": pt.cumsum, "mul": pt.cumprod}[op.mode](x, axis=op.axis)


def _sort_axis(op: Any, axis: tuple[Any, ...]) -> Any:
    """The axis is a property of the op, or in older versions of PyTensor its second input."""
    return op.axis if hasattr(op, "axis") else int(axis[0].data)


@converts(SortOp)
def _sort(op: Any, node: Any, x: Any, *axis: Any) -> Any:
    return pt.sort(x, axis=_sort_axis(op, axis))


@converts(ArgSortOp)
def _argsort(op: Any, node: Any, x: Any, *axis: Any) -> Any:
    return pt.argsort(x, axis=_sort_axis(op, axis))


@converts(SearchsortedOp)
def _searchsorted(op: Any, node: Any, x: Any, v: Any, *sorter: Any) -> Any:
    return pt.searchsorted(x, v, side=op.side, sorter=sorter[0] if sorter else None)


@converts(Unique)
def _unique(op: Any, node: Any, x: Any) -> Any:
    if x.ndim > 1:
        raise NotConverted("unique of more than one dimension")
    return pt.unique(x, op.return_index, op.return_inverse, op.return_counts)
