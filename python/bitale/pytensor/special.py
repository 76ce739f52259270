"""Ops that PyTensor has as graphs of their own: those that Bitale knows by name, and all others by their graph."""

from __future__ import annotations

from typing import Any

import pytensor.tensor.special as pts
from pytensor.compile.builders import OpFromGraph

import bitale.tensor as pt
from bitale.pytensor.conversion import Conversion, with_conversion
from bitale.pytensor.op_imports import LOG_SUM_EXP, SOFTMAX_GRAD, SYMBOLIC
from bitale.pytensor.registry import converts


@converts(OpFromGraph)
@with_conversion
def _op_from_graph(conversion: Conversion, op: Any, node: Any, *inputs: Any) -> Any:
    return conversion.inner(op.fgraph, inputs)


@converts(*SYMBOLIC)
@with_conversion
def _symbolic_op(conversion: Conversion, op: Any, node: Any, *inputs: Any) -> Any:
    # Its graph is a formula of PyTensor. Rewriting that could create the op again, without end.
    return conversion.inner(op.fgraph, inputs, as_it_is=True)


@converts(*LOG_SUM_EXP)
def _log_sum_exp(op: Any, node: Any, x: Any, *_: Any) -> Any:
    return pt.special.logsumexp(x, axis=op.axis)


@converts(pts.Softmax)
def _softmax(op: Any, node: Any, x: Any, *_: Any) -> Any:
    return pt.special.softmax(x, axis=op.axis)


@converts(*SOFTMAX_GRAD)
def _softmax_grad(op: Any, node: Any, dy: Any, softmax: Any) -> Any:
    product = dy * softmax
    return product - product.sum(axis=op.axis, keepdims=True) * softmax


@converts(pts.LogSoftmax)
def _log_softmax(op: Any, node: Any, x: Any, *_: Any) -> Any:
    return pt.special.log_softmax(x, axis=op.axis)
