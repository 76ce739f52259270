"""PyTensor's graphs, and so PyMC's models, compiled by Bitale. Importing it registers the mode and the linker ``BITALE`` with PyTensor, and the
backend ``bitale`` with nutpie.

>>> import bitale.pytensor
>>> f = pytensor.function([x], y, mode="BITALE")
>>> idata = pm.sample(nuts_sampler="nutpie", backend="BITALE")
>>> pytensor.config.mode = "BITALE"     # for everything that is compiled from here on

`from_pytensor` gives the Bitale graph of PyTensor variables; `converts` registers a converter for a class of ops.
"""

from __future__ import annotations

from typing import Any

from bitale.pytensor import _flags, versions as _versions

_is_default = _flags.take_mode()
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
from bitale.pytensor.linker import BitaleLinker, function
from bitale.pytensor import default_mode as _default_mode, pymc_calls as _pymc_calls

_converts_later("pytensor.xtensor", "bitale.pytensor.labels")
_converts_later("pymc.ode", "bitale.pytensor.pymc_ode")
_converts_later("pytensor.sparse", "bitale.pytensor.sparse")
_default_mode.accept_name()
_default_mode.keep_inner_graphs_from_the_c_compiler()
_default_mode.keep_virtual_machines_from_the_c_compiler()
_pymc_calls.extend()
if _is_default:
    _default_mode.set_default()

__all__ = [
    "BitaleLinker",
    "ConversionError",
    "NotConverted",
    "Report",
    "batched",
    "c_model",
    "converts",
    "from_pytensor",
    "function",
    "nutpie",
]


def nutpie(model: Any, **options: Any) -> Any:
    """A PyMC model, compiled by Bitale for ``nutpie.sample``; no Numba is needed.

    Shared data have the values of this moment; the result's `with_data` gives a model with others. var_names: which variables the trace has
    besides the free ones (default: all); initial_points, jitter_rvs, default_initialization_strategy, freeze_model: as nutpie's own
    ``compile_pymc_model``, to which this is the backend ``bitale``. ImportError without PyMC or nutpie;
    ValueError for a model with discrete free variables, or none; KeyError for names of `var_names` that it does not have; ConversionError for
    random variables among those of the trace. Where a call fails while nutpie samples, the first error is a warning.
    """
    for package in ("pymc", "nutpie"):
        _versions.check(package, "bitale.pytensor.nutpie")
    from bitale.pytensor.nutpie_model import compile_model

    return compile_model(model, **options)


def c_model(model: Any, **options: Any) -> Any:
    """A PyMC model as C functions, compiled by Bitale, for samplers that are written in other languages.

    `compiled_logp_func` and `compiled_expand_func` of the result have the attributes `address`, `ctypes` and `cffi`, as functions of Numba have.
    They are called with a point, the free variables on the unconstrained scale, of `n_dim` numbers; the latter writes the `n_expanded` numbers
    of all variables, which `variables` names. `initial_point_func(seed)` gives start values. Any number of threads may call all of
    these at once, and addresses are valid until the process ends, even if the result is gone. Shared data have the values of this moment; `with_data` gives a model with others.
    Options: var_names, initial_points, jitter_rvs and default_initialization_strategy, as of `nutpie`. ImportError without PyMC; TypeError,
    ValueError, KeyError and ConversionError as `nutpie`.
    """
    _versions.check("pymc", "bitale.pytensor.c_model")
    from bitale.pytensor.c_functions import compile_c_model

    return compile_c_model(model, **options)


def batched(model: Any, chains: int | None = None, **options: Any) -> Any:
    """A PyMC model whose log density and gradient are evaluated at many points by one call, for samplers of many chains.

    chains: how many points; None: any number. The result is called with a matrix, whose rows are points on the unconstrained scale, and returns
    their log densities and gradients; `logp(points)` returns only the former, `initial_points(seed)` start values, and `variables(points)` the
    model's variables by name. Options: var_names, initial_points and jitter_rvs, as of `nutpie`. Shared data have the values of this moment.
    ImportError without PyMC; TypeError, ValueError and KeyError as `nutpie`.
    """
    _versions.check("pymc", "bitale.pytensor.batched")
    from bitale.pytensor.batched_model import batched_model

    return batched_model(model, chains, **options)
