"""Graphs that may be changed."""

from bitale._core import FunctionGraph

__all__ = ["FunctionGraph"]

FunctionGraph.__module__ = __name__
