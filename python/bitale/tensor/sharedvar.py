"""Shared tensors."""

from bitale._core import TensorSharedVariable

TensorSharedVariable.__module__ = __name__
