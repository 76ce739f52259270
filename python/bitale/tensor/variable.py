"""Tensor variables."""

from typing import Any

from bitale._core import TensorConstant, TensorVariable, dot
from bitale._geography import finder

__all__ = ["TensorConstant", "TensorVariable"]


def _dot(left: TensorVariable, right: Any) -> TensorVariable:
    """The product of vectors and matrices, as PyTensor's functions ask a variable for it."""
    return dot(left, right)


TensorVariable.__dot__ = _dot  # type: ignore[attr-defined]
__getattr__ = finder(__name__)

for _class in (TensorConstant, TensorVariable):
    _class.__module__ = __name__
del _class
