"""The type of placeholders for derivatives that do not exist."""

from bitale._core import NullType
from bitale.gradient import null_type

__all__ = ["NullType", "null_type"]
