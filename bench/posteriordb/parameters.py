"""The parameters of a model on the unconstrained space: a vector, from which a model takes them in Stan's order, with the logarithm of
the Jacobian of all transforms together."""

from __future__ import annotations

from typing import Any

import bitale as bt
import bitale.tensor as pt
from bitale.stats import transforms


class Parameters:
    """Takes parameters from the unconstrained vector, one after the other, as a Stan program declares them."""

    def __init__(self, q: Any = None) -> None:
        self.q = pt.dvector("q") if q is None else q
        self.taken = 0
        self.log_jacobian: Any = 0.0

    def _next(self, shape: Any) -> Any:
        lengths = shape if isinstance(shape, tuple) else (shape,)
        size = 1
        for length in lengths:
            size *= length
        values = self.q[self.taken : self.taken + size]
        self.taken += size
        return values if len(lengths) == 1 else values.reshape(lengths)

    def _constrained(self, transform: Any, y: Any, *arguments: Any) -> Any:
        value, log_jacobian = getattr(transforms, transform)(y, *arguments)
        self.log_jacobian = self.log_jacobian + log_jacobian.sum()
        return value

    def real(self, shape: Any = None) -> Any:
        return self._next(1)[0] if shape is None else self._next(shape)

    def lower(self, bound: Any, shape: Any = None) -> Any:
        return self._constrained("lower", self.real(shape), bound)

    def positive(self, shape: Any = None) -> Any:
        return self.lower(0.0, shape)

    def interval(self, low: Any, high: Any, shape: Any = None) -> Any:
        return self._constrained("interval", self.real(shape), low, high)

    def ordered(self, length: int) -> Any:
        return self._constrained("ordered", self.real(length))

    def positive_ordered(self, length: int) -> Any:
        return self._constrained("positive_ordered", self.real(length))

    def simplex(self, length: int) -> Any:
        return self._constrained("simplex", self.real(length - 1))


class Target:
    """A log density as a sum. Stan's statement `x ~ normal(0, 1)` drops constants; here all are kept, so the two differ by a
    constant, and have equal gradients."""

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self.value: Any = 0.0

    def add(self, log_density: Any) -> None:
        self.value = self.value + log_density.sum()

    def __getattr__(self, distribution: str) -> Any:
        """`target.normal(x, loc, scale)` adds the sum of `bt.stats.normal_logpdf(x, loc, scale)`."""
        for kind in ("logpdf", "logpmf"):
            if function := getattr(bt.stats, f"{distribution}_{kind}", None):
                return lambda *arguments, **keywords: self.add(function(*arguments, **keywords))
        raise AttributeError(f"bitale.stats has no log density of {distribution!r}")

    @property
    def total(self) -> Any:
        return self.value + self.parameters.log_jacobian
