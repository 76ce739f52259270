"""PyTensor's place for interpolate1d, a function that answers a function."""

from __future__ import annotations

from typing import Any, Callable

from bitale._core import TensorVariable, _interpolate1d, interp

__all__ = ["interp", "interpolate1d"]


def interpolate1d(
    x: Any, y: Any, method: str = "linear", left_pad: Any = None, right_pad: Any = None, extrapolate: bool = True
) -> Callable[[Any], TensorVariable]:
    """A function that interpolates between the points (x, y), two vectors of one length, in any order of x; of tensors of
    any shape. Methods: "linear" (at least two points), "nearest" (the left one of two equally near), "first" (the nearest
    point strictly below), "last" (the nearest not below) and "mean" (of both neighbours). Outside of the points the first
    and the last two go on; without `extrapolate` it is `left_pad` below all x (y of the lowest x by default) and `right_pad`
    above all. It is nan at nan.

    >>> f = pt.interpolate1d(np.array([0.0, 1.0, 2.0]), np.array([0.0, 10.0, 40.0]), method="linear")
    >>> f(pt.constant(1.5)).eval()
    array(25.)
    """
    at: Callable[[Any], TensorVariable] = _interpolate1d(x, y, method, left_pad, right_pad, extrapolate)
    return lambda x_hat: at(x_hat)
