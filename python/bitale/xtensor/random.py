"""Random variables with labelled parameters, which meet by names: ``normal(mu, sigma, extra_dims={"draw": 100})``.

A draw has the dimensions of ``extra_dims``, then those of the parameters, then its core dimensions. Core dimensions are those along which a
distribution of vectors has its parameters and draws. Draws are those of bitale.tensor.random, whose generators these functions take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import bitale.tensor as pt
from bitale import _core
from bitale._core import Dim, XTensorVariable
from bitale.tensor.random import rng, shared_rng

# Of each distribution with core dimensions: how many there are, those of each parameter, and those of a draw.
_CORE = {
    "categorical": (1, [[0]], []),
    "dirichlet": (1, [[0]], [0]),
    "multinomial": (1, [[], [0]], [0]),
    "multivariate_normal": (2, [[0], [0, 1]], [0]),
}  # fmt: skip
_DISTRIBUTIONS = (
    "bernoulli", "beta", "betabinom", "binomial", "categorical", "cauchy", "chisquare", "dirichlet", "exponential", "gamma", "gengamma",
    "geometric", "gumbel", "halfcauchy", "halfnormal", "hypergeometric", "integers", "invgamma", "laplace", "logistic", "lognormal",
    "multinomial", "multivariate_normal", "nbinom", "negative_binomial", "normal", "pareto", "poisson", "rayleigh", "standard_normal", "t",
    "triangular", "truncated_normal", "truncexpon", "uniform", "vonmises", "wald", "weibull",
)  # fmt: skip


def _extra(extra_dims: Any, who: str) -> tuple[list[Dim], list[Any]]:
    """Further dimensions, and their lengths: a dict of names and lengths, or Dim objects that have a length."""
    pairs = list(extra_dims.items()) if isinstance(extra_dims, Mapping) else [(one, None) for one in _core.xtensor_dims(extra_dims or [])]
    dims = _core.xtensor_dims([name for name, _ in pairs])
    lengths = [dim.length if length is None else length for dim, (_, length) in zip(dims, pairs)]
    for dim, length in zip(dims, lengths):
        if length is None:
            raise ValueError(f"{who}: expected a length of {dim.name!r}, as in extra_dims={{{dim.name!r}: 10}}, or a Dim that has one")
    return dims, lengths


def draw_function(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of labelled parameters that a distribution of bitale.tensor.random is.

    Parameters
    ----------
    name : str
        The name of the distribution.
    function : callable
        The function of tensors.

    Returns
    -------
    callable
        The function. It has the keywords `core_dims`, `extra_dims`, `rng` and
        `return_next_rng`, and those of the function of tensors.
    """
    count, of_parameters, of_draw = _CORE.get(name, (0, [], []))

    def draw(*params: Any, core_dims: Any = None, extra_dims: Any = None, rng: Any = None, return_next_rng: bool = False, **options: Any) -> Any:
        names = _core.xtensor_core_names(core_dims or [], count, name)
        core = [[names[i] for i in each] for each in of_parameters[: len(params)]] or [[] for _ in params]
        operands = [_core.xtensor_operand(each) for each in params]
        values, common, cores = _core.xtensor_align(name, operands, core)
        own = [cores[-1][0] if cores and cores[-1] else Dim(names[i]) for i in of_draw]
        extra, size = _extra(extra_dims, name)
        if extra or not params:
            size = [*size, *(next(x.sizes[dim.name] for x in operands if dim.name in x.dims) for dim in common)]
            options["size"] = size
        drawn = function(*values, rng=rng, return_next_rng=return_next_rng, **options)
        dims = [*extra, *common, *own]
        if return_next_rng:
            return drawn[0], _core.xtensor_of_values(drawn[1], dims)
        return _core.xtensor_of_values(drawn, dims)

    draw.__name__ = draw.__qualname__ = name
    draw.__module__ = __name__
    draw.__doc__ = f"Draws from ``{name}`` with labelled parameters, as of the distribution of that name in bitale.tensor.random."
    return draw


for _name in _DISTRIBUTIONS:
    globals()[_name] = draw_function(_name, getattr(pt.random, _name))

if TYPE_CHECKING:

    def __getattr__(name: str) -> Callable[..., XTensorVariable]: ...


__all__ = [*_DISTRIBUTIONS, "draw_function", "rng", "shared_rng"]  # noqa: PLE0604
