"""PyTensor's module for xlogx, and for xlogy under its older name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bitale._core import TensorVariable
from bitale._deprecation import warn_deprecated
from bitale.tensor import special

if TYPE_CHECKING:
    from bitale.typing import Operand

__all__ = ["xlogx", "xlogy0"]


def xlogx(x: Operand) -> TensorVariable:
    """x * log(x), and 0 at 0."""
    warn_deprecated("xlogx.xlogx", "special.xlogy(x, x)")
    return special.xlogx(x)


def xlogy0(x: Operand, y: Operand) -> TensorVariable:
    """x * log(y), and 0 where x is 0."""
    warn_deprecated("xlogx.xlogy0", "special.xlogy(x, y)")
    return special.xlogy(x, y)
