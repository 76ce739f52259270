"""Calls of PyMC and nutpie that ask for Bitale by name, and what these packages would compile by other backends in such a call.

PyMC passes a call's mode to its samplers, but not to the functions of the trace, of start values and of others that the call needs: these
are compiled in the default mode, which therefore is BITALE while such a call runs. PyMC calls nutpie with the backends that it knows, and
nutpie has a closed list of them. Calls that don't ask for Bitale do what they did, but for what PyMC compiles while it
builds a model: a constant is evaluated by Bitale, and a function is compiled when it is called.
"""

from __future__ import annotations

import functools
import sys
from types import ModuleType, SimpleNamespace
from typing import Any, Callable

import pytensor

from bitale.pytensor.after_import import after_import
from bitale.pytensor.default_mode import is_bitale
from bitale.pytensor.linker import BITALE
from bitale.pytensor.nutpie_import import on_demand

# Functions of PyMC that take `mode`, `backend` or `compile_kwargs`.
_CALLS = (
    "compute_deterministics",
    "compute_log_likelihood",
    "draw",
    "find_MAP",
    "fit",
    "sample",
    "sample_posterior_predictive",
    "sample_prior_predictive",
    "sample_smc",
    "vectorize_over_posterior",
)

# Classes of `pymc.gp` whose `prior_linearized` evaluates a constant, the centre of the data. This is while the model is built, before any call could ask.
_BASES = ("HSGP", "HSGPPeriodic")


def _asks_for_bitale(options: dict[str, Any]) -> bool:
    modes = (
        options.get("mode"),
        options.get("backend"),
        (options.get("compile_kwargs") or {}).get("mode"),
    )
    return any(mode is not None and is_bitale(mode) for mode in modes)


def _in_bitale(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function; if a call of it asks for Bitale, that is the default mode during the call."""

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        if not _asks_for_bitale(options):
            return function(*args, **options)
        return _always_in_bitale(function)(*args, **options)

    return call


def _always_in_bitale(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function; BITALE is the default mode during its calls."""

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        with pytensor.config.change_flags(mode=BITALE):
            return function(*args, **options)

    return call


def _replace(package: str, old: Any, new: Any) -> None:
    """In all modules of a package, which import functions from one another by name."""
    for name, module in list(sys.modules.items()):
        if name == package or name.startswith(f"{package}."):
            for key in [key for key, value in vars(module).items() if value is old]:
                setattr(module, key, new)


def _extend_pymc(pymc: ModuleType) -> None:
    for name in _CALLS:
        if function := vars(pymc).get(name):
            _replace("pymc", function, _in_bitale(function))
    for name in _BASES:
        if base := getattr(pymc.gp, name, None):
            base.prior_linearized = _always_in_bitale(base.prior_linearized)
    if "pymc.ode.utils" in sys.modules:
        sys.modules["pymc.ode.utils"].pytensor = SimpleNamespace(function=_CompiledLater)  # type: ignore[attr-defined]
    mcmc = sys.modules["pymc.sampling.mcmc"]
    if external := getattr(mcmc, "_sample_external_nuts", None):
        mcmc._sample_external_nuts = _with_nutpies_backend(external)  # type: ignore[attr-defined]


class _CompiledLater:
    """A function of PyTensor, with the arguments of ``pytensor.function``, that is compiled when it is called. A `DifferentialEquation` has one, which
    is not called where Bitale solves the equation."""

    def __init__(self, *args: Any, **options: Any):
        self.arguments = args, options
        self.function: Any = None

    def __call__(self, *values: Any) -> Any:
        if self.function is None:
            args, options = self.arguments
            self.function = pytensor.function(*args, **options)
        return self.function(*values)


def _with_nutpies_backend(external: Callable[..., Any]) -> Callable[..., Any]:
    """PyMC's call of a sampler of another package: it names Numba as nutpie's backend for modes that it does not know."""

    @functools.wraps(external)
    def call(sampler: str, *args: Any, **options: Any) -> Any:
        kwargs = options.get("compile_kwargs")
        if sampler == "nutpie" and kwargs is not None and is_bitale(kwargs.get("mode")):
            options["compile_kwargs"] = {"backend": "bitale", **kwargs}
        return external(sampler, *args, **options)

    return call


def _extend_nutpie(nutpie: ModuleType) -> None:
    _replace("nutpie", nutpie.compile_pymc_model, _with_bitale(nutpie.compile_pymc_model))


def _with_bitale(own: Callable[..., Any]) -> Callable[..., Any]:
    """nutpie's ``compile_pymc_model`` with one more backend."""

    @functools.wraps(own)
    def compile_pymc_model(
        model: Any, *, backend: str = "numba", gradient_backend: str | None = None, **options: Any
    ) -> Any:
        if str(backend).lower() != "bitale":
            given = {} if gradient_backend is None else {"gradient_backend": gradient_backend}
            return own(model, backend=backend, **given, **options)
        if gradient_backend not in (None, "bitale", "pytensor"):
            raise ValueError(
                f"nutpie's backend bitale has gradients of its own; gradient_backend={gradient_backend!r} is of another"
            )
        from bitale.pytensor.nutpie_model import compile_model  # which imports nutpie

        return compile_model(model, **options)

    return compile_pymc_model


def extend() -> None:
    after_import("pymc", _extend_pymc)
    after_import("nutpie", _extend_nutpie, on_demand)
