"""Shared tensors."""

from bitale._core import TensorSharedVariable

__all__ = ["TensorSharedVariable"]

TensorSharedVariable.__module__ = __name__
