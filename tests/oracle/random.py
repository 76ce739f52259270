"""Draws from constant streams, as expressions name them: bt.random.stream(seed), pt.random.normal(..., rng=...)."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from . import streams
from .values import Val, val


@dataclasses.dataclass(frozen=True)
class Stream:
    key: int
    drawn: int = 0

    def fold(self, number: int) -> Stream:
        return Stream(streams.child_key(self.key, self.drawn, number))


def stream(seed: int) -> Stream:
    return Stream(seed)


def as_rng(state: Stream) -> Stream:
    return state


def drawn(name: str, state: Any, size: Any, parameters: list[Any]) -> Any:
    """The distributions that are one formula of one word. ValueError for parameters outside their domain."""
    from scipy.special import ndtri

    bits = streams.words(state.key, state.drawn, size)
    unit, inside = streams.unit(bits), streams.open_unit(bits)
    if name in ("normal", "exponential") and np.any(np.asarray(parameters[-1]) < 0):
        raise ValueError("scale < 0")
    if name == "uniform" and not np.all(np.isfinite(parameters[1] - parameters[0]) & (parameters[1] >= parameters[0])):
        raise ValueError("low > high")
    formulas = {
        "random": lambda: unit,
        "uniform": lambda low, high: low + (high - low) * unit,
        "standard_normal": lambda: ndtri(inside),
        "normal": lambda mean, deviation: mean + deviation * ndtri(inside),
        "exponential": lambda scale: -scale * np.log(inside),
    }
    return formulas[name](*parameters)


def standard_normal(u: Any) -> Val:
    """Of numbers between 0 and 1: the inverse of the distribution function."""
    from scipy.special import ndtri

    return Val(ndtri(val(u).array))


def _distribution(name: str) -> Any:
    def draw(*given: Any, size: Any = None, rng: Stream) -> Val:
        parameters = [val(each).array.astype(np.float64) for each in given]
        shape = tuple(int(n) for n in size) if size is not None else np.broadcast_shapes(*(each.shape for each in parameters))
        if any(each.ndim and each.shape != shape for each in parameters):
            raise ValueError("parameters that do not have the draw's shape")
        return Val(np.asarray(drawn(name, rng, shape, parameters)))

    return draw


uniform, normal, exponential = (_distribution(name) for name in ("uniform", "normal", "exponential"))
