"""The type of tensors."""

from bitale._core import TensorType

TensorType.__module__ = __name__
