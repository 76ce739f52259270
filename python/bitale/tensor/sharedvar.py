"""Shared tensors."""

from bitale._geography import absent
from bitale._core import TensorSharedVariable

__all__ = ["TensorSharedVariable"]

TensorSharedVariable.__module__ = __name__

__getattr__ = absent(__name__)
