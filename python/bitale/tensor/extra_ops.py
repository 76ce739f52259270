"""Functions that are short expressions of others."""

from __future__ import annotations

from typing import Any, Sequence

from bitale._core import (
    TensorVariable,
    argmax,
    max,
    nonzero,
    switch,
)

from bitale._geography import finder

__all__ = [
    "max_and_argmax",
    "where",
]


def where(cond: Any, ift: Any = None, iff: Any = None) -> TensorVariable | tuple[TensorVariable, ...]:
    """ift where the condition is true, else iff; the condition alone: where it is not 0, as `nonzero`.

    ValueError when only one of ift and iff is given.

    >>> x = pt.dvector("x")
    >>> pt.where(x > 0, x, -x).eval({x: [-1.0, 2.0]})
    array([1., 2.])
    """
    if ift is None and iff is None:
        return nonzero(cond)
    if ift is None or iff is None:
        raise ValueError("where: expected both values, or neither")
    return switch(cond, ift, iff)


def max_and_argmax(a: Any, axis: Any = None, keepdims: bool = False) -> tuple[TensorVariable, TensorVariable]:
    """The largest elements and where they are.

    >>> [each.eval() for each in pt.max_and_argmax([3.0, 7.0, 5.0])]
    [array(7.), array(1)]
    """
    return max(a, axis=axis, keepdims=keepdims), argmax(a, axis=axis, keepdims=keepdims)


__getattr__ = finder(__name__)  # PyTensor has more functions in this module
