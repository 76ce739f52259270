"""PyTensor's module for interpolate1d, which returns a function."""

from __future__ import annotations

from typing import Any, Callable, Literal, get_args

from bitale._geography import absent
from bitale._core import TensorVariable, _interpolate1d, interp

__all__ = ["interp", "interpolate1d"]

InterpolationMethod = Literal["linear", "nearest", "first", "last", "mean"]
valid_methods: tuple[str, ...] = get_args(InterpolationMethod)


def interpolate1d(
    x: Any,
    y: Any,
    method: str = "linear",
    left_pad: Any = None,
    right_pad: Any = None,
    extrapolate: bool = True,
) -> Callable[[Any], TensorVariable]:
    """Make a function that interpolates between points.

    Parameters
    ----------
    x : tensor_like
        Vector of abscissae, in any order.
    y : tensor_like
        Vector of ordinates.
    method : str
        'linear' (at least two points), 'nearest' (for ties, the left one), 'first' (nearest point
        strictly below), 'last' (nearest point not above) or 'mean' (of both neighbours).
    left_pad : tensor_like, optional
        Value below all points, without `extrapolate`; by default that of the
        lowest point.
    right_pad : tensor_like, optional
        Value above all points, without `extrapolate`; by default that of the
        highest point.
    extrapolate : bool
        Continue the first and last two points outside.

    Returns
    -------
    callable
        Function of a tensor of any shape; it is nan at nan.

    See Also
    --------
    interp

    Examples
    --------
    >>> f = pt.interpolate1d(np.array([0.0, 1.0, 2.0]), np.array([0.0, 10.0, 40.0]), method="linear")
    >>> f(pt.constant(1.5)).eval()
    array(25.)
    """
    at: Callable[[Any], TensorVariable] = _interpolate1d(
        x, y, method, left_pad, right_pad, extrapolate
    )
    return lambda x_hat: at(x_hat)


__getattr__ = absent(__name__)
