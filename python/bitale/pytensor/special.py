"""Ops that PyTensor has as graphs of their own: those that Bitale knows by name, and all others by their graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

import pytensor.tensor.special as pts
from pytensor.compile.builders import OpFromGraph

import bitale as bt
import bitale.tensor as pt
from bitale._core import is_disconnected
from bitale.pytensor.callback import converted_pullback, detached
from bitale.pytensor.conversion import Conversion, converted, with_conversion
from bitale.pytensor.op_imports import LOG_SUM_EXP, SOFTMAX_GRAD, SYMBOLIC
from bitale.pytensor.registry import Converter, converts


@converts(OpFromGraph)
@with_conversion
def _op_from_graph(conversion: Conversion, op: Any, node: Any, *inputs: Any) -> Any:
    return _inlined(conversion, op, node, inputs, as_it_is=False)


@converts(*SYMBOLIC)
@with_conversion
def _symbolic_op(conversion: Conversion, op: Any, node: Any, *inputs: Any) -> Any:
    # Its graph is a formula of PyTensor. Rewriting that could create the op again, without end.
    return _inlined(conversion, op, node, inputs, as_it_is=True)


def _inlined(
    conversion: Conversion, op: Any, node: Any, inputs: Sequence[Any], *, as_it_is: bool
) -> Any:
    """The op's graph. Where the op has a derivative of its own, an op of Bitale keeps the two together until the function is compiled."""
    if not _has_own_pullback(op) or not all(isinstance(x, bt.Variable) for x in inputs):
        return conversion.inner(op.fgraph, inputs, as_it_is=as_it_is)
    own = [x.type() for x in inputs]
    made = bt.compile.OpFromGraph(
        own,
        conversion.inner(op.fgraph, own, as_it_is=as_it_is),
        pullback=_Pullback(op, node),
        name=op.name,
    )
    return made(*inputs)


def _has_own_pullback(op: Any) -> bool:
    """Whether the user or the op's class says what the derivative is, rather than the graph."""
    if any(getattr(op, name, None) is not None for name in ("pullback_overrides", "lop_overrides")):
        return True
    return any(
        getattr(type(op), name, None) is not getattr(OpFromGraph, name, None)
        for name in ("pullback", "L_op", "grad")
    )


class _Pullback:
    """PyTensor's pullback of an op, converted. Those of equal ops are equal."""

    def __init__(self, op: Any, node: Any):
        self.op, self.node = op, detached(node)

    def __call__(self, inputs: list[Any], outputs: list[Any], cotangents: list[Any]) -> list[Any]:
        found = converted_pullback(
            self.op, self.node, dict(zip(self.node.inputs, inputs)), outputs, cotangents, converted
        )
        return [
            None
            if is_disconnected(g)
            else g
            if isinstance(g, bt.Variable)
            else bt.gradient.grad_undefined(self.op, k, inputs[k], str(g.type))
            for k, g in enumerate(found)
        ]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Pullback) and self.op == other.op

    def __hash__(self) -> int:
        return hash(self.op)


def _along_axis(function: Callable[..., Any]) -> Converter:
    return lambda op, node, x, *_: function(x, axis=op.axis)


converts(*LOG_SUM_EXP)(_along_axis(pt.special.logsumexp))
converts(pts.Softmax)(_along_axis(pt.special.softmax))
converts(pts.LogSoftmax)(_along_axis(pt.special.log_softmax))


@converts(*SOFTMAX_GRAD)
def _softmax_grad(op: Any, node: Any, dy: Any, softmax: Any) -> Any:
    product = dy * softmax
    return product - product.sum(axis=op.axis, keepdims=True) * softmax
