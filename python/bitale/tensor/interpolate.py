"""One-dimensional interpolation: formulas of searchsorted and indexing, so that they fuse and have derivatives."""

from __future__ import annotations

from typing import Any, Callable

from bitale._core import (
    TensorVariable,
    abs,
    argsort,
    as_tensor_variable,
    clip,
    concatenate,
    eq,
    gt,
    isnan,
    le,
    lt,
    maximum,
    minimum,
    searchsorted,
    switch,
)

__all__ = ["interp", "interpolate1d"]

_methods = ("linear", "nearest", "first", "last", "mean")


def _points(x: Any, y: Any, function: str) -> tuple[TensorVariable, TensorVariable]:
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    if x.ndim != 1 or y.ndim != 1:
        raise ValueError(f"{function}: the points must be two vectors, but have {x.ndim} and {y.ndim} dimensions")
    lengths = (x.type.shape[0], y.type.shape[0])
    if None not in lengths and lengths[0] != lengths[1]:
        raise ValueError(f"{function}: the points must be as many in x as in y, but are {lengths[0]} and {lengths[1]}")
    if 0 in lengths:
        raise ValueError(f"{function}: there must be at least one point")
    return x, y


def _linear(x: TensorVariable, y: TensorVariable, at: TensorVariable) -> TensorVariable:
    """The line through the last point not above `at` and the next; that of the first or last two points outside of them."""
    n = x.shape[0]
    low = clip(searchsorted(x, at, side="right") - 1, 0, maximum(n - 2, 0))
    high = minimum(low + 1, n - 1)
    return y[low] + (y[high] - y[low]) / (x[high] - x[low]) * (at - x[low])


def _stepwise(method: str, x: TensorVariable, y: TensorVariable, at: TensorVariable) -> TensorVariable:
    n = x.shape[0]
    place = searchsorted(x, at)
    if method == "first":
        return y[clip(place - 1, 0, n - 1)]
    if method == "last":
        return y[clip(place, 0, n - 1)]
    high = clip(place, minimum(1, n - 1), n - 1)
    low = maximum(high - 1, 0)
    if method == "mean":
        return (y[low] + y[high]) / 2
    return switch(le(at - x[low], x[high] - at), y[low], y[high])


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
    if method not in _methods:
        raise NotImplementedError(f"interpolate1d: method must be one of {', '.join(_methods)}, not {method!r}")
    x, y = _points(x, y, "interpolate1d")
    order = argsort(x)
    x, y = x[order], y[order]
    left = y[0] if left_pad is None else as_tensor_variable(left_pad)
    right = y[-1] if right_pad is None else as_tensor_variable(right_pad)

    def interpolated(x_hat: Any) -> TensorVariable:
        at = as_tensor_variable(x_hat)
        out = _linear(x, y, at) if method == "linear" else _stepwise(method, x, y, at)
        if not extrapolate:
            if method == "linear":  # without the rounding of the line, and of a single point too
                out = switch(eq(at, x[-1]), y[-1], out)
            out = switch(lt(at, x[0]), left, switch(gt(at, x[-1]), right, out))
        return switch(isnan(at), at, out) if at.dtype.startswith("float") else out

    return interpolated


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> TensorVariable:
    """Linear interpolation between the points (xp, fp) at x, a tensor of any shape, as numpy.interp does it: `left` below the
    lowest xp (its fp by default) and `right` above the highest. With a `period` x and xp are taken modulo it, and `left` and
    `right` don't count.

    >>> pt.interp(1.5, [1.0, 2.0], [10.0, 20.0]).eval()
    array(15.)
    """
    xp, fp = _points(xp, fp, "interp")
    x = as_tensor_variable(x)
    if period is None:
        return interpolate1d(xp, fp, "linear", left, right, extrapolate=False)(x)
    if not isinstance(period, TensorVariable) and period == 0:
        raise ValueError("interp: period must not be 0")
    period = abs(as_tensor_variable(period))
    x, xp = x % period, xp % period
    order = argsort(xp)
    xp, fp = xp[order], fp[order]
    xp = concatenate([xp[-1:] - period, xp, xp[:1] + period])
    fp = concatenate([fp[-1:], fp, fp[:1]])
    return interpolate1d(xp, fp, "linear", extrapolate=False)(x)
