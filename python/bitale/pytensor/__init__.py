"""PyTensor's graphs, and so PyMC's models, compiled by Bitale. Importing it registers the mode and the linker ``BITALE`` with PyTensor, and changes
nothing else.

>>> import bitale.pytensor
>>> idata = bitale.pytensor.sample(model)
>>> f = pytensor.function([x], y, mode="BITALE")
>>> with bitale.pytensor.as_default():     # for everything that is compiled in this block
...     idata = pm.sample()

`from_pytensor` gives the Bitale graph of PyTensor variables; `converts` registers a converter for a class of ops.
"""

from __future__ import annotations

import importlib
from typing import Any

from bitale.pytensor import versions as _versions

_versions.check()

from bitale.pytensor.registry import NotConverted, converts, converts_later as _converts_later
from bitale.pytensor.conversion import ConversionError, Report, from_pytensor
from bitale.pytensor import (
    elemwise,
    reductions,
    shapes,
    indexing,
    linalg,
    decompositions,
    special,
    control,
    scan,
    random,
    pymc_random,
    pymc_car,
    extra_ops,
)  # registers converters
from bitale.pytensor.linker import BITALE, BitaleLinker, function
from bitale.pytensor.default_mode import as_default
from bitale.pytensor.sampling import sample

_converts_later("pytensor.xtensor", "bitale.pytensor.labels")
_converts_later("pymc.ode", "bitale.pytensor.pymc_ode")
_converts_later("pytensor.sparse", "bitale.pytensor.sparse")

__all__ = [
    "BITALE",
    "BitaleLinker",
    "ConversionError",
    "NotConverted",
    "Report",
    "as_default",
    "batched",
    "c_model",
    "converts",
    "from_pytensor",
    "function",
    "sample",
]


def __getattr__(name: str) -> Any:
    """The module `nutpie`, which imports nutpie."""
    if name != "nutpie":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module("bitale.pytensor.nutpie")


def c_model(model: Any, **options: Any) -> Any:
    """A PyMC model as C functions, compiled by Bitale, for samplers that are written in other languages.

    `compiled_logp_func` and `compiled_expand_func` of the result have the attributes `address`, `ctypes` and `cffi`, as functions of Numba have.
    They are called with a point, the free variables on the unconstrained scale, of `n_dim` numbers; the latter writes the `n_expanded` numbers
    of all variables, which `variables` names. `initial_point_func(seed)` gives start values. Any number of threads may call all of
    these at once, and addresses are valid until the process ends, even if the result is gone. Shared data have the values of this moment; `with_data` gives a model with others.
    Options: var_names, initial_points, jitter_rvs and default_initialization_strategy, as of `nutpie.compile_model`. ImportError without PyMC; TypeError,
    ValueError, KeyError and ConversionError as that.
    """
    _versions.check("pymc", "bitale.pytensor.c_model")
    from bitale.pytensor.c_functions import compile_c_model

    return compile_c_model(model, **options)


def batched(model: Any, chains: int | None = None, **options: Any) -> Any:
    """A PyMC model whose log density and gradient are evaluated at many points by one call, for samplers of many chains.

    chains: how many points; None: any number. The result is called with a matrix, whose rows are points on the unconstrained scale, and returns
    their log densities and gradients; `logp(points)` returns only the former, `initial_points(seed)` start values, and `variables(points)` the
    model's variables by name. Options: var_names, initial_points and jitter_rvs, as of `nutpie.compile_model`. Shared data have the values of this moment.
    ImportError without PyMC; TypeError, ValueError and KeyError as that.
    """
    _versions.check("pymc", "bitale.pytensor.batched")
    from bitale.pytensor.batched_model import batched_model

    return batched_model(model, chains, **options)
