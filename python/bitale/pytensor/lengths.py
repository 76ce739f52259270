"""Lengths in PyTensor's graphs as sums of multiples of unknown lengths and numbers: enough to tell that a buffer has an element for each step."""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Constant, Variable
from pytensor.scalar.basic import Add, Cast, Identity, ScalarOp, Sub
from pytensor.scan.op import Scan
from pytensor.tensor.basic import (
    Alloc,
    AllocEmpty,
    Join,
    MakeVector,
    ScalarFromTensor,
    TensorFromScalar,
)
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.shape import Shape, Shape_i, SpecifyShape
from pytensor.tensor.subtensor import IncSubtensor, Subtensor

from bitale.pytensor.op_imports import ADVANCED_CHANGE

Sum = dict[Any, int]  # unknown -> its factor; None -> the constant term

_DEPTH = 30


def _plus(a: Sum, b: Sum, factor: int = 1) -> Sum:
    out = dict(a)
    for atom, count in b.items():
        out[atom] = out.get(atom, 0) + factor * count
        if out[atom] == 0:
            del out[atom]
    return out


def number(sum_: Sum) -> int | None:
    """The number that a sum is, if it is one."""
    return sum_.get(None, 0) if set(sum_) <= {None} else None


def difference(a: Sum, b: Sum) -> int | None:
    return number(_plus(a, b, -1))


def shifted(a: Sum, by: int) -> Sum:
    return _plus(a, {None: by})


def _scalar_op(op: Any) -> Any:
    return op.scalar_op if isinstance(op, Elemwise) else op if isinstance(op, ScalarOp) else None


def value(x: Variable, depth: int = _DEPTH) -> Sum:
    """An integer, which may be a vector of length 1."""
    unknown: Sum = {("value", x): 1}
    if isinstance(x, Constant):
        data = getattr(x, "data", None)
        return (
            unknown
            if data is None or getattr(data, "size", 1) != 1
            else _plus({}, {None: int(data)})
        )
    if x.owner is None or depth == 0:
        return unknown
    op, inputs = x.owner.op, x.owner.inputs
    if isinstance(op, (ScalarFromTensor, TensorFromScalar)):
        return value(inputs[0], depth - 1)
    if isinstance(op, DimShuffle) and all(n == 1 for n in inputs[0].type.shape):
        return value(inputs[0], depth - 1)
    if isinstance(op, DimShuffle) and inputs[0].type.ndim == 1 and x.type.ndim == 0:
        return _element(inputs[0], 0, depth - 1)
    if isinstance(op, Shape_i):
        return length(inputs[0], op.i, depth - 1)
    if isinstance(op, Shape) and inputs[0].type.ndim == 1:
        return length(inputs[0], 0, depth - 1)
    if isinstance(op, Subtensor) and inputs[0].type.ndim == 1 and x.type.ndim == 0:
        index = inputs[1] if len(inputs) == 2 else None
        return (
            _element(inputs[0], int(index.data), depth - 1)
            if isinstance(index, Constant)
            else unknown
        )
    scalar_op = _scalar_op(op)
    if isinstance(scalar_op, (Cast, Identity)) and x.type.dtype in ("int32", "int64"):
        return value(inputs[0], depth - 1)
    if isinstance(scalar_op, Add) and x.type.dtype == "int64":
        out: Sum = {}
        for each in inputs:
            out = _plus(out, value(each, depth - 1))
        return out
    if isinstance(scalar_op, Sub) and x.type.dtype == "int64":
        return _plus(value(inputs[0], depth - 1), value(inputs[1], depth - 1), -1)
    return unknown


def _element(vector: Variable, i: int, depth: int) -> Sum:
    """Element i of an integer vector."""
    node = vector.owner
    if isinstance(vector, Constant):
        return _plus({}, {None: int(vector.data[i])})
    if node is not None and isinstance(node.op, Shape):
        return length(node.inputs[0], i % node.inputs[0].type.ndim, depth)
    if node is not None and isinstance(node.op, MakeVector):
        return value(node.inputs[i], depth)
    return {("element", vector, i): 1}


def length(x: Variable, axis: int, depth: int = _DEPTH) -> Sum:
    """The length of a tensor along an axis."""
    known = x.type.shape[axis]
    if known is not None:
        return _plus({}, {None: known})
    unknown: Sum = {("length", x, axis): 1}
    if x.owner is None or depth == 0:
        return unknown
    op, inputs = x.owner.op, x.owner.inputs
    if isinstance(op, (IncSubtensor, SpecifyShape, *ADVANCED_CHANGE)):
        return length(inputs[0], axis, depth - 1)
    if isinstance(op, AllocEmpty):
        return value(inputs[axis], depth - 1)
    if isinstance(op, Alloc):
        return value(inputs[1 + axis], depth - 1)
    if isinstance(op, Elemwise):
        return next(
            (length(y, axis, depth - 1) for y in inputs if y.type.shape[axis] != 1), unknown
        )
    if isinstance(op, DimShuffle) and op.new_order[axis] != "x":
        return length(inputs[0], op.new_order[axis], depth - 1)
    if isinstance(op, Join) and getattr(op, "axis", None) == axis:
        out: Sum = {}
        for each in inputs:
            out = _plus(out, length(each, axis, depth - 1))
        return out
    if isinstance(op, Scan) and axis == 0 and not op.info.as_while:
        return _traced(x, depth, unknown)
    if isinstance(op, Subtensor):
        return _sliced(x, axis, depth, unknown)
    return unknown


def _traced(x: Variable, depth: int, unknown: Sum) -> Sum:
    """The length of what a loop has noted: that of the buffer it writes to, or a number that it is given."""
    info, at = x.owner.op.info, x.owner.outputs.index(x)
    buffers = info.n_mit_mot + info.n_mit_sot + info.n_sit_sot
    untraced = getattr(info, "n_untraced_sit_sot", None)  # the attribute's name since PyTensor 2.38
    untraced = info.n_shared_outs if untraced is None else untraced
    if at < buffers:
        return length(x.owner.inputs[1 + info.n_seqs + at], 0, depth - 1)
    if at < buffers + info.n_nit_sot:  # their numbers follow the untraced states
        return value(x.owner.inputs[1 + info.n_seqs + untraced + at], depth - 1)
    return unknown


def _sliced(x: Variable, axis: int, depth: int, unknown: Sum) -> Sum:
    op, (source, *given) = x.owner.op, x.owner.inputs
    following = iter(
        given
    )  # PyTensor 2.38 has types instead of positions; the inputs follow in order
    kept = [(at, entry) for at, entry in enumerate(op.idx_list) if isinstance(entry, slice)]
    if axis >= len(kept):
        return length(source, axis - len(kept) + len(op.idx_list), depth - 1)
    at, entry = kept[axis]
    if len(op.idx_list) > 1 and any(
        not isinstance(part, (int, type(None)))
        for e in op.idx_list
        for part in ((e.start, e.stop, e.step) if isinstance(e, slice) else (e,))
    ):
        return unknown

    def part(position: Any) -> int | None:
        if position is None:
            return None
        return number(
            value(given[position] if isinstance(position, int) else next(following), depth - 1)
        )

    whole, start, stop, step = (
        length(source, at, depth - 1),
        part(entry.start),
        part(entry.stop),
        part(entry.step),
    )
    if any(
        position is not None and found is None
        for position, found in zip((entry.start, entry.stop, entry.step), (start, stop, step))
    ):
        return unknown
    if start is None and stop is None and step in (None, 1, -1):
        return whole
    # Lengths are never negative, so this is a lower bound.
    min_length = (
        whole.get(None, 0)
        if all(atom is None or (count > 0 and atom[0] == "length") for atom, count in whole.items())
        else 0
    )
    if step in (None, 1) and stop is None and start is not None and 0 <= start <= min_length:
        return shifted(whole, -start)
    if (
        step in (None, 1)
        and start in (None, 0)
        and stop is not None
        and stop < 0
        and -stop <= min_length
    ):
        return shifted(whole, stop)
    if step == -1 and stop is None and start is not None and start < 0 and -start - 1 <= min_length:
        return shifted(whole, start + 1)
    return unknown
