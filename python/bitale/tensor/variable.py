"""Tensor variables."""

from bitale._core import TensorConstant, TensorVariable, dot


def _dot(left: TensorVariable, right: object) -> TensorVariable:
    """The product of vectors and matrices, as PyTensor's functions ask a variable for it."""
    return dot(left, right)


TensorVariable.__dot__ = _dot

for _class in (TensorConstant, TensorVariable):
    _class.__module__ = __name__
del _class
