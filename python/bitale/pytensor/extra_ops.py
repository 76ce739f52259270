"""Ops that few models have: changed diagonals, index arithmetic, choices, convolutions. Versions of PyTensor that keep them elsewhere call them back."""

from __future__ import annotations

import importlib
from typing import Any, Callable

from pytensor.graph.basic import Constant

import bitale.tensor as pt
from bitale.pytensor.registry import Converter, NotConverted, converts, forwards
from bitale.tensor import formula_classes


def _of(module: str, *names: str) -> tuple[type, ...]:
    """The classes of these names, as far as this version has them there."""
    try:
        there = importlib.import_module(f"pytensor.tensor.{module}")
    except ImportError:
        return ()
    return tuple(
        cls for cls in (getattr(there, name, None) for name in names) if isinstance(cls, type)
    )


def _by_formula(name: str) -> Converter:
    """The formula of that name in bitale.tensor, whose arguments are attributes of PyTensor's op."""
    formula = getattr(formula_classes, name)

    def convert(op: Any, node: Any, *inputs: Any) -> Any:
        return formula(**{each: getattr(op, each) for each in formula.arguments})(*inputs)

    return convert


for _module, _name in (
    ("extra_ops", "Bartlett"),
    ("extra_ops", "FillDiagonal"),
    ("extra_ops", "FillDiagonalOffset"),
    ("basic", "Choose"),
):
    converts(*_of(_module, _name))(_by_formula(_name))


converts(*_of("extra_ops", "CpuContiguous"))(forwards(lambda x: x))
converts(*(_of("linalg.constructors", "BlockDiagonal") or _of("slinalg", "BlockDiagonal")))(
    forwards(pt.linalg.block_diag)
)
converts(*(_of("linalg.inverse", "TensorInv") or _of("nlinalg", "TensorInv")))(
    forwards(pt.linalg.tensorinv, "ind")
)


@converts(*_of("extra_ops", "UnravelIndex"))
def _unravel_index(op: Any, node: Any, indices: Any, dims: Any) -> Any:
    lengths = [dims[k] for k in range(len(node.outputs))]
    if op.order == "F":
        return list(pt.unravel_index(indices, lengths[::-1]))[::-1]
    return list(pt.unravel_index(indices, lengths))


@converts(*_of("extra_ops", "RavelMultiIndex"))
def _ravel_multi_index(op: Any, node: Any, *inputs: Any) -> Any:
    (*indices, dims) = inputs
    lengths = [dims[k] for k in range(len(indices))]
    if op.order == "F":
        indices, lengths = indices[::-1], lengths[::-1]
    return pt.ravel_multi_index(tuple(indices), lengths, mode=op.mode)


@converts(*_of("basic", "PermuteRowElements"))
def _permute_row_elements(op: Any, node: Any, x: Any, y: Any, *inverse: Any) -> Any:
    if inverse:
        raise NotConverted("whether to invert is given by an input")
    return pt.permute_row_elements(x, y, inverse=op.inverse)


def _mode(node: Any) -> str:
    mode = node.inputs[2]
    while mode.owner is not None and len(mode.owner.inputs) == 1:  # changes of dimensions
        (mode,) = mode.owner.inputs
    if not isinstance(mode, Constant):
        raise NotConverted("its mode is not a constant")
    return "full" if mode.data else "valid"


def _convolved(function: Callable[..., Any]) -> Converter:
    return lambda op, node, x, y, full: function(x, y, mode=_mode(node))


converts(*_of("signal.conv", "Convolve1d"), batched=True)(_convolved(pt.signal.convolve1d))
converts(*_of("signal.conv", "Convolve2d"), batched=True)(_convolved(pt.signal.convolve2d))
