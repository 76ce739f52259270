"""BITALE as the default of what PyTensor and PyMC compile. Only this module replaces anything of another package,
and only between `start` and `stop`."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import importlib.metadata
import importlib.util
from typing import Any, Callable

from bitale.pytensor.linker import BitaleLinker, is_bitale, nothing_else_compiles
from bitale.pytensor.sampling import sample
from bitale.pytensor.versions import parsed


@dataclasses.dataclass(frozen=True)
class Replaced:
    """An object of PyMC 6 that `as_default` replaces. tried: the versions of PyMC with which this was tested."""

    module: str
    name: str
    tried: tuple[str, ...]
    by: Callable[[Any], Any]


def _samplers(own: Callable[..., Any]) -> Callable[..., Any]:
    """PyMC's call of a sampler of another package: nutpie's, in mode BITALE, is that of `bitale.pytensor.sample`."""

    @functools.wraps(own)
    def call(sampler: str, draws: int, **options: Any) -> Any:
        compiling = options["compile_kwargs"]
        if sampler != "nutpie" or "backend" in compiling or not is_bitale(compiling.get("mode")):
            return own(sampler=sampler, draws=draws, **options)
        kept = ("model", "tune", "chains", "cores", "initvals", "var_names")
        more = ("progressbar", "quiet", "discard_tuned_samples", "idata_kwargs")
        return sample(
            draws=draws,
            seed=int(options["random_seed"][0]),
            **{name: options[name] for name in (*kept, *more)},
            **options["nuts_kwargs"],
        )

    return call


REPLACED = (
    # PyMC chooses nutpie for this linker and JAX's only.
    Replaced(
        "pymc.sampling.mcmc", "NumbaLinker", ("6.3.2", "6.4.0"), lambda own: own | BitaleLinker
    ),
    # It names Numba as nutpie's backend for modes that it does not know.
    Replaced("pymc.sampling.mcmc", "_sample_external_nuts", ("6.3.2", "6.4.0"), _samplers),
)


class AsDefault:
    """See `as_default`."""

    def __init__(self) -> None:
        self._undo = contextlib.ExitStack()

    def start(self) -> AsDefault:
        """Changes the defaults, until `stop`. RuntimeError if PyMC lacks an object to be replaced; nothing is changed then."""
        has_pymc = importlib.util.find_spec("pymc") is not None
        version = parsed(importlib.metadata.version("pymc")) if has_pymc else ()
        with contextlib.ExitStack() as undo:
            undo.enter_context(nothing_else_compiles())
            for row in REPLACED:
                if version < (6,):  # whose `pm.sample` takes nutpie only when it is named
                    continue
                module = importlib.import_module(row.module)
                own = getattr(module, row.name, None)
                if own is None:
                    raise RuntimeError(
                        f"as_default: this PyMC has no {row.module}.{row.name}, which those tried ({', '.join(row.tried)}) have; "
                        "bitale.pytensor.sample(model) and mode=bitale.pytensor.BITALE don't need it"
                    )
                undo.callback(setattr, module, row.name, own)
                setattr(module, row.name, row.by(own))
            self._undo.push(undo.pop_all())
        return self

    def stop(self) -> None:
        """Restores everything to its state before `start`."""
        self._undo.close()

    __enter__ = start

    def __exit__(self, *error: Any) -> None:
        self.stop()


def as_default() -> AsDefault:
    """In this block, Bitale compiles everything that PyTensor and PyMC compile without an explicit mode, including ``pm.sample()`` with nutpie.

    >>> with bitale.pytensor.as_default():
    ...     idata = pm.sample()

    ``as_default().start()`` applies to the whole process, until `stop` of its result. In between,
    in all threads, ``pytensor.config.mode`` is BITALE, PyTensor does not call a C compiler, so
    functions in modes that need one are slow, and two objects of PyMC are replaced. Blocks may be
    nested.
    """
    return AsDefault()
