"""Functions that are short expressions of others."""

from __future__ import annotations

from typing import Any, Sequence

from bitale._core import TensorVariable, argmax, max, nonzero, switch

from bitale._geography import finder

__all__ = ["max_and_argmax", "where"]


def where(
    cond: Any, ift: Any = None, iff: Any = None
) -> TensorVariable | tuple[TensorVariable, ...]:
    """Choose elements by a condition, or find where it is true.

    Parameters
    ----------
    cond : tensor_like
        Condition.
    ift : tensor_like, optional
        Values where it is true.
    iff : tensor_like, optional
        Values where it is false.

    Returns
    -------
    TensorVariable or tuple of TensorVariable
        Chosen values, of the broadcast shape; with only the condition, the result of `nonzero`.

    Raises
    ------
    ValueError
        If only one of `ift` and `iff` is given.

    See Also
    --------
    switch, nonzero

    Examples
    --------
    >>> x = pt.dvector("x")
    >>> pt.where(x > 0, x, -x).eval({x: [-1.0, 2.0]})
    array([1., 2.])
    """
    if ift is None and iff is None:
        return nonzero(cond)
    if ift is None or iff is None:
        raise ValueError("where: expected both values, or neither")
    return switch(cond, ift, iff)


def max_and_argmax(
    a: Any, axis: Any = None, keepdims: bool = False
) -> tuple[TensorVariable, TensorVariable]:
    """Maximum along an axis, and its index.

    Parameters
    ----------
    a : tensor_like
        Tensor.
    axis : int or sequence of int, optional
        Axis to search; by default the flattened tensor.
    keepdims : bool
        Keep reduced axes, with length 1.

    Returns
    -------
    max : TensorVariable
        Maxima, as by `max`.
    argmax : TensorVariable
        Their indices, as by `argmax`.

    See Also
    --------
    max, argmax

    Examples
    --------
    >>> [each.eval() for each in pt.max_and_argmax([3.0, 7.0, 5.0])]
    [array(7.), array(1)]
    """
    return max(a, axis=axis, keepdims=keepdims), argmax(a, axis=axis, keepdims=keepdims)


__getattr__ = finder(__name__)  # PyTensor has more functions in this module
