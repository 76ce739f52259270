"""Draws from constant streams, as they occur in expressions: bt.random.stream(seed), pt.random.normal(..., rng=...)."""

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
    """Draws from the distributions that are a formula of a single word. Raises ValueError for parameters outside their
    domain."""
    from scipy.special import ndtri

    bits = streams.words(state.key, state.drawn, size)
    unit, inside = streams.unit(bits), streams.open_unit(bits)
    if name in ("normal", "exponential") and np.any(np.asarray(parameters[-1]) < 0):
        raise ValueError("scale < 0")
    if name == "uniform" and not np.all(
        np.isfinite(parameters[1] - parameters[0]) & (parameters[1] >= parameters[0])
    ):
        raise ValueError("low > high")
    formulas = {
        "random": lambda: unit,
        "uniform": lambda low, high: low + (high - low) * unit,
        "standard_normal": lambda: ndtri(inside),
        "normal": lambda mean, deviation: mean + deviation * ndtri(inside),
        "exponential": lambda scale: -scale * np.log(inside),
    }
    return formulas[name](*parameters)


def composed(name: str, source: Any, size: Any, parameters: list[Any]) -> Any:
    """Draws from composed distributions, and the state afterwards. `source` is a Stream, or a Generator, whose state
    advances."""
    from scipy.special import log_ndtr, ndtri, ndtri_exp

    is_stream = not isinstance(source, np.random.Generator)
    states = [source]

    def unit() -> Any:
        if not is_stream:
            return source.uniform(size=size)
        state = states[-1]
        states.append(type(state)(state.key, state.drawn + 1))
        return np.maximum(streams.unit(streams.words(state.key, state.drawn, size)), 2.0**-54)

    def normal(*length: int) -> Any:
        whole = (*size, *length)
        if not is_stream:
            return source.standard_normal(size=whole)
        state = states[-1]
        states.append(type(state)(state.key, state.drawn + 1))
        return ndtri(streams.open_unit(streams.words(state.key, state.drawn, whole)))

    def category(p: Any) -> Any:
        if not np.all(p >= 0) or not np.all(
            np.abs(p.sum(-1) - 1)
            <= (3.4526698300124393e-04 if name.endswith("32") else 1.4901161193847656e-08)
        ):
            raise ValueError("no probabilities")
        return np.minimum((np.cumsum(p, -1) < unit()[..., None]).sum(-1), p.shape[-1] - 1)

    def normal_vector(mean: Any, cov: Any) -> Any:
        if cov.shape[-1] != cov.shape[-2] or mean.shape[-1] not in (1, cov.shape[-1]):
            raise ValueError("the mean does not have the covariance's length")
        if not np.isfinite(cov).all():
            raise ValueError("the covariance matrix is not positive definite")
        return (np.linalg.cholesky(cov) @ normal(cov.shape[-1])[..., None])[..., 0] + mean

    def truncated(loc: Any, scale: Any, lower: Any, upper: Any) -> Any:
        u, a, b = unit(), (lower - loc) / scale, (upper - loc) / scale
        flips = a > 0
        low, high = np.where(flips, -b, a), np.where(flips, -a, b)
        z = np.clip(
            ndtri_exp(
                np.minimum(
                    np.logaddexp(log_ndtr(low) + np.log1p(-u), log_ndtr(high) + np.log(u)), 0.0
                )
            ),
            low,
            high,
        )
        return np.clip(loc + scale * np.where(flips, -z, z), lower, upper)

    formulas = {
        "halfnormal": lambda loc, scale: loc + scale * np.abs(normal()),
        "pareto": lambda b, scale: scale * (1 - unit()) ** (-1 / b),
        "gumbel": lambda loc, scale: loc - scale * np.log(-np.log(unit())),
        "cauchy": lambda loc, scale: loc + scale * np.tan(np.pi * unit() - np.pi / 2),
        "halfcauchy": lambda loc, scale: loc + scale * np.tan(np.pi / 2 * unit()),
        "truncexpon": lambda b, loc, scale: loc - scale * np.log1p(unit() * np.expm1(-b)),
        "truncated_normal": truncated,
        "categorical": category,
        "categorical_float32": category,
        "multivariate_normal": normal_vector,
    }
    if not is_stream:  # these are composed draws only with a Generator
        formulas |= {
            "bernoulli": lambda p: source.binomial(1, p, size),
            "invgamma": lambda shape, scale: 1 / source.gamma(shape, 1 / scale, size),
            "t": lambda df, loc, scale: loc + scale * source.standard_t(df, size),
            "gengamma": lambda alpha, p, lambd: (
                lambd * source.standard_gamma(alpha / p, size) ** (1 / p)
            ),
            "betabinom": lambda n, a, b: source.binomial(n, source.beta(a, b, size), size),
        }
    domains = {
        "pareto": (0,),
        "truncexpon": (0,),
        "t": (0,),
        "gengamma": (0, 1),
        "betabinom": (1, 2),
        "truncated_normal": (1,),
    }
    scales = {"truncated_normal": 1, "gengamma": 2, "betabinom": 0}.get(name, len(parameters) - 1)
    if name.split("_")[0] in ("bernoulli", "categorical", "multivariate"):
        scales = None
    if any(not np.all(parameters[k] > 0) for k in domains.get(name, ())) or (
        scales is not None and not np.all(parameters[scales] >= 0)
    ):
        raise ValueError(f"parameters of {name}")
    if name == "truncated_normal" and not np.all(parameters[2] <= parameters[3]):
        raise ValueError("not lower <= upper")
    drawn = formulas[name](*parameters)
    return states[-1], drawn


def standard_normal(u: Any) -> Val:
    """The normal quantile function of numbers between 0 and 1."""
    from scipy.special import ndtri

    return Val(ndtri(val(u).array))


def _distribution(name: str, is_composed: bool = False) -> Any:
    def draw(*given: Any, size: Any = None, rng: Stream) -> Val:
        parameters = [val(each).array.astype(np.float64) for each in given]
        shape = (
            tuple(int(n) for n in size)
            if size is not None
            else np.broadcast_shapes(*(each.shape for each in parameters))
        )
        if any(each.ndim and each.shape != shape for each in parameters):
            raise ValueError("parameters that do not have the draw's shape")
        return Val(
            np.asarray(
                composed(name, rng, shape, parameters)[1]
                if is_composed
                else drawn(name, rng, shape, parameters)
            )
        )

    return draw


uniform, normal, exponential = (
    _distribution(name) for name in ("uniform", "normal", "exponential")
)
halfnormal, pareto, gumbel, cauchy, halfcauchy, truncexpon, truncated_normal = (
    _distribution(name, True)
    for name in (
        "halfnormal",
        "pareto",
        "gumbel",
        "cauchy",
        "halfcauchy",
        "truncexpon",
        "truncated_normal",
    )
)


def _vectors(name: str, core_ndims: tuple[int, ...]) -> Any:
    """The same for parameters that are vectors or matrices, whose leading dimensions are the shape of the draw."""

    def draw(*given: Any, size: Any = None, rng: Stream) -> Val:
        wide = name != "categorical" or val(given[0]).dtype == np.float64
        parameters = [val(each).array.astype(np.float64) for each in given]
        batch = np.broadcast_shapes(
            *(each.shape[: each.ndim - core] for each, core in zip(parameters, core_ndims))
        )
        shape = tuple(int(n) for n in size) if size is not None else batch
        if np.broadcast_shapes(batch, shape) != shape:
            raise ValueError("parameters that do not have the draw's shape")
        return Val(
            np.asarray(composed(name if wide else f"{name}_float32", rng, shape, parameters)[1])
        )

    return draw


categorical, multivariate_normal = (
    _vectors("categorical", (1,)),
    _vectors("multivariate_normal", (1, 2)),
)
