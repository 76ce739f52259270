"""Shapes, permutations of dimensions, and tensors that are made, joined and taken apart."""

from __future__ import annotations

import math
from typing import Any

from pytensor.tensor.basic import (
    Alloc,
    AllocDiag,
    AllocEmpty,
    ARange,
    ExtractDiag,
    Eye,
    Join,
    MakeVector,
    ScalarFromTensor,
    Split,
    TensorFromScalar,
)
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.reshape import JoinDims, SplitDims
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape

import bitale.tensor as pt
from bitale.pytensor.registry import NotConverted, converts, forwards
from bitale.raise_op import Assert


@converts(DimShuffle)
def _dimshuffle(op: Any, node: Any, x: Any) -> Any:
    dropped = [axis for axis in range(x.ndim) if axis not in op.new_order]
    if any(x.type.shape[axis] is None for axis in dropped):  # PyTensor checks this in the call
        x = pt.specify_shape(x, tuple(1 if axis in dropped else None for axis in range(x.ndim)))
    return pt.dimshuffle(x, *op.new_order)


converts(Shape)(forwards(pt.shape))
converts(Shape_i)(forwards(pt.shape_i, "i"))
converts(Reshape)(forwards(pt.reshape, "ndim"))
converts(Alloc)(forwards(pt.alloc))
converts(ExtractDiag)(forwards(pt.diagonal, "offset", "axis1", "axis2"))
converts(TensorFromScalar, ScalarFromTensor)(forwards(lambda x: x))


@converts(SpecifyShape)
def _specify_shape(op: Any, node: Any, x: Any, *lengths: Any) -> Any:
    return pt.specify_shape(x, lengths)


def _lengths(x: Any, axes: Any) -> list[Any]:
    return [n if (n := x.type.shape[axis]) is not None else pt.shape_i(x, axis) for axis in axes]


@converts(JoinDims)
def _join_dims(op: Any, node: Any, x: Any) -> Any:
    after = op.start_axis + op.n_axes
    joined: Any = math.prod(_lengths(x, range(op.start_axis, after)))
    return pt.reshape(
        x, [*_lengths(x, range(op.start_axis)), joined, *_lengths(x, range(after, x.ndim))]
    )


@converts(SplitDims)
def _split_dims(op: Any, node: Any, x: Any, shape: Any) -> Any:
    count = node.outputs[0].type.ndim - x.ndim + 1
    lengths = [shape[i] for i in range(count)]
    return pt.reshape(
        x, [*_lengths(x, range(op.axis)), *lengths, *_lengths(x, range(op.axis + 1, x.ndim))]
    )


@converts(AllocEmpty)
def _alloc_empty(op: Any, node: Any, *lengths: Any) -> Any:
    return pt.zeros(list(lengths), dtype=op.dtype)


@converts(MakeVector)
def _make_vector(op: Any, node: Any, *elements: Any) -> Any:
    if not elements:
        return pt.zeros(0, dtype=op.dtype)
    return pt.make_vector(*(x if x.dtype == op.dtype else pt.cast(x, op.dtype) for x in elements))


@converts(Join)
def _join(op: Any, node: Any, *inputs: Any) -> Any:
    if hasattr(op, "axis"):
        axis, tensors = op.axis, inputs
    else:  # older versions of PyTensor have the axis as an input
        axis, tensors = _number(inputs[0]), inputs[1:]
    dtype = node.outputs[0].type.dtype
    return pt.join(axis, *(x if x.dtype == dtype else pt.cast(x, dtype) for x in tensors))


def _number(x: Any) -> int:
    """The value of a constant. NotConverted for what is known in calls only."""
    if not isinstance(x, pt.TensorConstant):
        raise NotConverted("an axis that is not a constant")
    return int(x.data)


@converts(Split)
def _split(op: Any, node: Any, x: Any, *rest: Any) -> Any:
    axis = op.axis if hasattr(op, "axis") else _number(rest[0])
    sizes = rest[-1]
    axis = axis % x.ndim
    if not isinstance(sizes, pt.TensorConstant):
        pieces = pt.specify_shape(sizes, (op.len_splits,))
        return pt.split(x, [pieces[k] for k in range(op.len_splits)], axis=axis)
    known, length = [int(n) for n in sizes.data], x.type.shape[axis]
    if any(n < 0 for n in known) or length not in (None, sum(known)):
        raise NotConverted("sizes that do not add up to the length of the axis, or are negative")
    return pt.split(x, known, axis=axis)


@converts(ARange, batched=True)
def _arange(op: Any, node: Any, start: Any, stop: Any, step: Any) -> Any:
    if stop.ndim == 0:
        return pt.arange(start, stop, step, dtype=op.dtype)
    return _batch_of_aranges(
        op, *(pt.cast(x, "int64") if x.dtype[0] in "biu" else x for x in (start, stop, step))
    )


def _batch_of_aranges(op: Any, start: Any, stop: Any, step: Any) -> Any:
    """Ranges of one length, which the call checks."""
    if any(x.dtype != "int64" for x in (start, stop, step)):
        raise NotConverted("a batch of ranges of floats")
    lengths = pt.maximum(pt.ceil_intdiv(stop - start, step), 0)
    length = pt.max(pt.join(0, pt.zeros(1, dtype="int64"), pt.flatten(lengths)))
    length = Assert("arange: ranges of different lengths in a batch")(
        length, pt.all(pt.eq(lengths, length))
    )
    start = pt.second(lengths, start)  # for each range, if only their ends differ
    return pt.cast(pt.shape_padright(start) + pt.shape_padright(step) * pt.arange(length), op.dtype)


@converts(Eye)
def _eye(op: Any, node: Any, n: Any, m: Any, k: Any) -> Any:
    if not isinstance(k, pt.TensorConstant):
        raise NotConverted("eye with a diagonal that is not a constant")
    return pt.eye(n, m, int(k.data), dtype=op.dtype)


@converts(AllocDiag)
def _alloc_diag(op: Any, node: Any, *inputs: Any) -> Any:
    """A matrix for each last dimension of the input, in which it is a diagonal."""
    (x, *_) = inputs
    offset, last = op.offset, x.ndim - 1
    size = pt.shape_i(x, last) if x.type.shape[last] is None else x.type.shape[last]
    if x.ndim == 1:
        return pt.diag(x, offset)
    rows = pt.arange(size) + max(0, -offset)
    columns = pt.arange(size) + max(0, offset)
    side = size + abs(offset)
    zeros = pt.zeros([*_lengths(x, range(last)), side, side], dtype=x.dtype)
    made = pt.set_subtensor(zeros[(slice(None),) * last + (rows, columns)], x)
    return pt.moveaxis(made, (-2, -1), (op.axis1, op.axis2))
