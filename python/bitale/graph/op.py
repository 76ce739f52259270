"""Definitions of operations."""

from bitale._core import Op

Op.__module__ = __name__
