"""Random variables with labelled parameters, which are aligned by name: ``normal(mu, sigma, extra_dims={"draw": 100})``.

A draw has the dimensions of ``extra_dims``, then those of the parameters, then its core dimensions. Core dimensions are the dimensions of vectors in multivariate distributions. Draws are those of bitale.tensor.random, whose generators these functions take."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import bitale.tensor as pt
from bitale import _core
from bitale._core import XTensorVariable
from bitale.tensor.random import rng, shared_rng

_DISTRIBUTIONS = [*(record.name for record in _core.distributions()), "nbinom"]


def _parameters(
    function: Callable[..., Any], given: tuple[Any, ...], options: dict[str, Any]
) -> list[Any]:
    """All parameters of a distribution, with those that are among the keywords and the defaults before them."""
    names = list(inspect.signature(function).parameters)
    names = names[: names.index("size")] if "size" in names else []
    named = {name: options.pop(name) for name in names if name in options}
    if not named:
        return list(given)
    bound = inspect.signature(function).bind(*given, **named)
    bound.apply_defaults()
    return [bound.arguments[name] for name in names]


def draw_function(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The distribution of bitale.tensor.random as a function of labelled parameters.

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

    def draw(
        *params: Any,
        core_dims: Any = None,
        extra_dims: Any = None,
        rng: Any = None,
        return_next_rng: bool = False,
        **options: Any,
    ) -> Any:
        if "size" in options:
            raise TypeError(
                f"{name}: expected extra_dims=, names and lengths of further dimensions, got size="
            )

        def of_tensors(values: Any, size: Any) -> Any:
            return function(
                *values,
                **({} if size is None else {"size": size}),
                rng=rng,
                return_next_rng=return_next_rng,
                **options,
            )

        given = _parameters(function, params, options)
        next_rng, drawn = _core.xtensor_draw(
            name, of_tensors, *given, core_dims=core_dims, extra_dims=extra_dims
        )
        return (next_rng, drawn) if return_next_rng else drawn

    draw.__name__ = draw.__qualname__ = name
    draw.__module__ = __name__
    draw.__doc__ = f"Draws from ``{name}`` with labelled parameters, like the distribution of that name in bitale.tensor.random."
    return draw


for _name in _DISTRIBUTIONS:
    globals()[_name] = draw_function(_name, getattr(pt.random, _name))

if TYPE_CHECKING:

    def __getattr__(name: str) -> Callable[..., XTensorVariable]: ...


__all__ = [*_DISTRIBUTIONS, "draw_function", "rng", "shared_rng"]  # noqa: PLE0604
