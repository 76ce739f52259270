"""The type of what stands for a derivative that there is not."""

from bitale._core import NullType
from bitale.gradient import null_type

__all__ = ["NullType", "null_type"]
