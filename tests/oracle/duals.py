"""Derivatives by dual numbers: an oracle that shares nothing with the library.

An array is a NumPy array of Dual objects, each a long double and its partial derivatives by those elements of the inputs
on which it depends. An element that a value does not depend on (in the branch of a switch that was not taken, or
overwritten) has no entry, so that its derivative is zero whatever happens elsewhere.
"""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

Real = np.longdouble


def _with_arrays(operator: Callable[[Dual, Any], Any]) -> Callable[[Dual, Any], Any]:
    """The operator, with an array element by element."""

    def apply(self: Dual, other: Any) -> Any:
        if isinstance(other, np.ndarray) and other.ndim:
            return np.array([operator(self, each) for each in other.flat], dtype=object).reshape(
                other.shape
            )
        return operator(self, other)

    return apply


class Dual:
    __slots__ = ("value", "partials")

    def __init__(self, value: Any, partials: dict[int, Any] | None = None) -> None:
        self.value = Real(value)
        self.partials = partials or {}

    def along(self, value: Any, slope: Any) -> Dual:
        """f(self), given the value and the derivative of f."""
        return Dual(value, {k: slope * p for k, p in self.partials.items()})

    @_with_arrays
    def __add__(self, other: Any) -> Dual:
        other = dual(other)
        partials = dict(self.partials)
        for k, p in other.partials.items():
            partials[k] = partials[k] + p if k in partials else p
        return Dual(self.value + other.value, partials)

    @_with_arrays
    def __mul__(self, other: Any) -> Dual:
        other = dual(other)
        left, right = self.along(0, other.value), other.along(0, self.value)
        return Dual(self.value * other.value, (left + right).partials)

    def __neg__(self) -> Dual:
        return self.along(-self.value, Real(-1))

    @_with_arrays
    def __sub__(self, other: Any) -> Dual:
        return self + -dual(other)

    @_with_arrays
    def __truediv__(self, other: Any) -> Dual:
        other = dual(other)
        quotient = self.value / other.value
        left, right = self.along(0, 1 / other.value), other.along(0, -quotient / other.value)
        return Dual(quotient, (left + right).partials)

    def __pow__(self, exponent: float) -> Dual:
        return self.along(self.value**exponent, exponent * self.value ** (exponent - 1))

    __radd__ = __add__
    __rmul__ = __mul__

    @_with_arrays
    def __rsub__(self, other: Any) -> Dual:
        return dual(other) - self

    @_with_arrays
    def __rtruediv__(self, other: Any) -> Dual:
        return dual(other) / self

    def __abs__(self) -> Dual:
        return self.along(abs(self.value), np.sign(self.value))

    def __lt__(self, other: Any) -> bool:
        return bool(self.value < dual(other).value)

    def __le__(self, other: Any) -> bool:
        return bool(self.value <= dual(other).value)

    def __gt__(self, other: Any) -> bool:
        return bool(self.value > dual(other).value)

    def __ge__(self, other: Any) -> bool:
        return bool(self.value >= dual(other).value)


def dual(x: Any) -> Dual:
    if isinstance(x, np.ndarray):
        x = x.item()
    return x if isinstance(x, Dual) else Dual(x)


def constant(values: Any) -> np.ndarray:
    return _map(dual)(np.asarray(values, dtype=float))


def leaf(values: np.ndarray, first: int) -> np.ndarray:
    """An input whose elements are numbered from `first`."""
    out = np.empty(values.shape, dtype=object)
    for k, index in enumerate(np.ndindex(values.shape)):
        out[index] = Dual(values[index], {first + k: Real(1)})
    return out


def _map(f: Callable[..., Any], count: int = 1) -> Callable[..., np.ndarray]:
    mapped = np.frompyfunc(f, count, 1)
    return lambda *arrays: np.asarray(mapped(*arrays), dtype=object)


def _function(
    value: Callable[[Any], Any], slope: Callable[[Any, Any], Any]
) -> Callable[[Any], np.ndarray]:
    def apply(x: Any) -> Dual:
        x = dual(x)
        y = value(x.value)
        return x.along(y, slope(x.value, y))

    return _map(apply)


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x)) if x >= 0 else np.exp(x) / (1 + np.exp(x))


def _chosen(take_first: Callable[[Dual, Dual], bool]) -> Callable[..., np.ndarray]:
    def choose(x: Any, y: Any) -> Dual:
        x, y = dual(x), dual(y)
        if math.isnan(x.value) or math.isnan(y.value):
            return Dual(np.nan, {k: Real(np.nan) for k in {**x.partials, **y.partials}})
        return x if take_first(x, y) else y

    return _map(choose, 2)


exp = _function(np.exp, lambda x, y: y)
log = _function(np.log, lambda x, y: 1 / x)
log1p = _function(np.log1p, lambda x, y: 1 / (1 + x))
sqrt = _function(np.sqrt, lambda x, y: Real(0.5) / y)
tanh = _function(np.tanh, lambda x, y: 1 - y * y)
sin = _function(np.sin, lambda x, y: np.cos(x))
sigmoid = _function(_sigmoid, lambda x, y: y * (1 - y))
reciprocal = _function(lambda x: 1 / x, lambda x, y: -y * y)
sqr = _function(lambda x: x * x, lambda x, y: 2 * x)
arcsin = _function(np.arcsin, lambda x, y: 1 / np.sqrt(1 - x * x))
maximum = _chosen(lambda x, y: x.value >= y.value)
minimum = _chosen(lambda x, y: x.value <= y.value)


def clip(x: Any, low: Any, high: Any) -> np.ndarray:
    return minimum(maximum(x, low), high)


def switch(condition: Any, x: Any, y: Any) -> np.ndarray:
    return _map(lambda c, a, b: dual(a) if c else dual(b), 3)(condition, x, y)


def ifelse(condition: Any, x: Any, y: Any) -> Any:
    return x if np.asarray(condition).item() else y


def sum(x: np.ndarray, axis: int | None = None) -> np.ndarray:
    return np.asarray(
        np.sum(x, axis=axis, initial=Dual(0))
        if axis is None
        else np.add.reduce(x, axis=axis, initial=Dual(0)),
        dtype=object,
    )


def prod(x: np.ndarray, axis: int | None = None) -> np.ndarray:
    return np.asarray(np.multiply.reduce(x, axis=axis, initial=Dual(1)), dtype=object)


def max(x: np.ndarray) -> np.ndarray:
    """Each element that equals the largest gets the whole derivative."""
    largest = np.max([e.value for e in x.flat])
    total = Dual(0)
    for e in x.flat:
        if e.value == largest:
            total = total + e
    return np.asarray(Dual(largest, total.partials), dtype=object)


def set_subtensor(x: np.ndarray, index: Any, y: Any) -> np.ndarray:
    out = x.copy()
    y = _map(dual)(y)
    out[index] = y if y.ndim else y.item()
    return out


def inc_subtensor(x: np.ndarray, index: Any, y: Any) -> np.ndarray:
    out = x.copy()
    np.add.at(out, index, _map(dual)(y))
    return out


def concatenate(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts)


def cumsum(x: np.ndarray) -> np.ndarray:
    return np.add.accumulate(x)


def gradient(value: np.ndarray, count: int) -> np.ndarray:
    """The partial derivatives of a scalar by the numbered elements."""
    partials = np.asarray(value).item().partials
    return np.array([partials.get(k, Real(0)) for k in range(count)])
