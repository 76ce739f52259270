"""PyTensor's module for xlogx, and for xlogy under its older name."""

from bitale.tensor.special import xlogx
from bitale.tensor.special import xlogy as xlogy0

__all__ = ["xlogx", "xlogy0"]
