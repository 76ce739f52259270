"""Errors of scalar functions by PyTensor's names, and how PyTensor chooses dtypes of Python's numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bitale._core import dtype_names
from bitale.configuration import config

__all__ = [
    "ComplexError",
    "IntegerDivisionError",
    "NumpyAutocaster",
    "autocast_float",
    "autocast_int",
    "mod_check",
]


class ComplexError(NotImplementedError):
    """A function that is not defined for complex numbers. Here it is a TypeError."""


class IntegerDivisionError(Exception):
    """`/` of integers, where it is not allowed. Here it is a division of floats."""


class NumpyAutocaster:
    """A number as an array of the first of some dtypes that can represent it.

    Constants of expressions follow config.cast_policy, whatever these dtypes are.

    >>> from bitale.scalar.basic import autocast_int
    >>> autocast_int(300).dtype
    dtype('int16')
    """

    def __init__(self, dtypes: Sequence[str]):
        self.dtypes = tuple(dtypes)

    def __call__(self, x: Any) -> Any:
        if np.ndim(x) != 0:
            raise TypeError(f"autocast: expected a number, got {x!r}")
        if getattr(x, "dtype", None) is not None and str(x.dtype) in self.dtypes:
            return np.asarray(x)
        if isinstance(x, float) and config.floatX in self.dtypes:
            return np.asarray(x, config.floatX)
        for dtype in self.dtypes:
            if dtype == "float16" and config.floatX != "float16":
                continue
            with np.errstate(over="ignore"):
                try:
                    found = np.asarray(x).astype(dtype)
                except OverflowError:
                    continue
            if found == x:
                return found
        return np.asarray(x).astype(self.dtypes[-1])


autocast_int, autocast_float = NumpyAutocaster(dtype_names("i")), NumpyAutocaster(dtype_names("f"))


def mod_check(x: Any, y: Any) -> Any:
    """The remainder `x % y`. TypeError for complex numbers."""
    import bitale.tensor as pt

    return pt.mod(x, y)
