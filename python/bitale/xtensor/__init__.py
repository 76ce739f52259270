"""Labelled dimensions: tensors whose axes have names. Names are resolved while an expression is built, so all other
parts work on plain tensors. Names and arguments are those of PyTensor's xtensor and of xarray."""

from bitale._core import Dim
from bitale._geography import add_modules as _add_modules
from bitale.xtensor import linalg, math, random, reduction, selection, shape, signal, stats, windows

from bitale.xtensor.loop import scan
from bitale.xtensor.math import dot, where
from bitale.xtensor.shape import broadcast, concat, full_like, ones_like, zeros_like
from bitale.xtensor.type import XTensorType, as_xtensor, xtensor, xtensor_constant, xtensor_shared
from bitale.xtensor.variable import XTensorVariable
from bitale.xtensor.windows import vectorize_graph

__all__ = [
    "Dim", "XTensorType", "XTensorVariable", "as_xtensor", "broadcast", "concat", "dot", "full_like", "linalg", "math",
    "ones_like", "random", "reduction", "scan", "selection", "shape", "signal", "stats", "vectorize_graph", "where", "windows", "xtensor", "xtensor_constant",
    "xtensor_shared", "zeros_like",
]  # fmt: skip

Dim.__module__ = __name__
_add_modules(__name__)
