"""Ops that are formulas of tensors, under PyTensor's name for this module."""

from __future__ import annotations

from typing import Any

from bitale import _core
from bitale._geography import absent
from bitale.compile.builders import SymbolicOp

__all__ = ["TensorSymbolicOp"]


class TensorSymbolicOp(SymbolicOp):
    """A SymbolicOp that takes numbers and arrays, too.

    >>> from bitale.tensor.symbolic import TensorSymbolicOp
    >>> class Halved(TensorSymbolicOp):
    ...     def build_inner_graph(self, x):
    ...         return [x / 2]
    >>> Halved()([1.0, 3.0]).eval()
    array([0.5, 1.5])
    """

    @staticmethod
    def filter_inputs(*inputs: Any) -> tuple[Any, ...]:
        return tuple(_core.as_tensor_variable(each) for each in inputs)


__getattr__ = absent(__name__)
