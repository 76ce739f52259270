"""The type of tensors."""

from bitale._core import TensorType
from bitale._geography import finder

__all__ = ["TensorType"]

TensorType.__module__ = __name__
__getattr__ = finder(__name__)
