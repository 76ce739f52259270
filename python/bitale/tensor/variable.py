"""Tensor variables."""

from bitale._core import TensorConstant, TensorVariable

for _class in (TensorConstant, TensorVariable):
    _class.__module__ = __name__
del _class
