"""Log densities and tails of labelled values: ``normal_logpdf(y, mu, sigma)`` has the dimensions of all three, which meet by names.

They are the functions of bitale.stats. Those of vectors and categories take the names of their core dimensions, along which values and
parameters are: ``dirichlet_logpdf(shares, alpha, core_dims="category")``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bitale import _core, stats
from bitale._core import XTensorVariable

_NAMES = [
    name for name in stats.__all__ if name.endswith(("_logpdf", "_logpmf", "_logcdf", "_logsf"))
]


def _labelled(name: str) -> Callable[..., XTensorVariable]:
    function = getattr(stats, name)
    signature = inspect.signature(function)

    def log_function(*args: Any, core_dims: Any = None, **options: Any) -> XTensorVariable:
        bound = signature.bind(*args, **options)
        bound.apply_defaults()
        given = {key: value for key, value in bound.arguments.items() if value is not None}

        def of_tensors(*values: Any) -> Any:
            return function(**dict(zip(given, values, strict=True)))

        return _core.xtensor_log_function(name, of_tensors, *given.values(), core_dims=core_dims)

    log_function.__name__ = log_function.__qualname__ = name
    log_function.__module__ = __name__
    log_function.__signature__ = signature  # type: ignore[attr-defined]
    log_function.__doc__ = f"The function ``{name}`` of bitale.stats, of labelled values and parameters, with the keyword `core_dims`."
    return log_function


for _name in _NAMES:
    globals()[_name] = _labelled(_name)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Callable[..., XTensorVariable]: ...


__all__ = list(_NAMES)  # noqa: PLE0605
