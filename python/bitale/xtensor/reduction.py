"""Reductions of labelled tensors over named dimensions; ``dim=None`` and ``dim=...`` stand for all of them."""

from __future__ import annotations

from typing import Any

from bitale import _core
from bitale._core import XTensorVariable

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
]


def sum(x: Any, dim: Any = None) -> XTensorVariable:
    """The sum over dimensions."""
    return _core.xtensor_operand(x).sum(dim)


def prod(x: Any, dim: Any = None) -> XTensorVariable:
    """The product over dimensions."""
    return _core.xtensor_operand(x).prod(dim)


def mean(x: Any, dim: Any = None) -> XTensorVariable:
    """The mean over dimensions."""
    return _core.xtensor_operand(x).mean(dim)


def var(x: Any, dim: Any = None, ddof: int = 0) -> XTensorVariable:
    """The variance over dimensions; sums of squares are divided by the number of elements less `ddof`."""
    return _core.xtensor_operand(x).var(dim, ddof=ddof)


def std(x: Any, dim: Any = None, ddof: int = 0) -> XTensorVariable:
    """The square root of `var`."""
    return _core.xtensor_operand(x).std(dim, ddof=ddof)


def min(x: Any, dim: Any = None) -> XTensorVariable:
    """The smallest element over dimensions."""
    return _core.xtensor_operand(x).min(dim)


def max(x: Any, dim: Any = None) -> XTensorVariable:
    """The largest element over dimensions."""
    return _core.xtensor_operand(x).max(dim)


def all(x: Any, dim: Any = None) -> XTensorVariable:
    """Whether all elements over dimensions are true."""
    return _core.xtensor_operand(x).all(dim)


def any(x: Any, dim: Any = None) -> XTensorVariable:
    """Whether any element over dimensions is true."""
    return _core.xtensor_operand(x).any(dim)


def argmax(x: Any, dim: Any) -> XTensorVariable:
    """The position of the largest element along a dimension."""
    return _core.xtensor_operand(x).argmax(dim)


def argmin(x: Any, dim: Any) -> XTensorVariable:
    """The position of the smallest element along a dimension."""
    return _core.xtensor_operand(x).argmin(dim)


def cumsum(x: Any, dim: Any = None) -> XTensorVariable:
    """Sums of the elements up to each, along dimensions one after the other."""
    return _core.xtensor_operand(x).cumsum(dim)


def cumprod(x: Any, dim: Any = None) -> XTensorVariable:
    """Products of the elements up to each, along dimensions one after the other."""
    return _core.xtensor_operand(x).cumprod(dim)
