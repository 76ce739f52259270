"""Graphs that may be changed."""

from bitale._core import FunctionGraph

FunctionGraph.__module__ = __name__
