"""How to compile."""

from __future__ import annotations

import importlib
from typing import Any

from bitale._geography import absent
from bitale import _core
from bitale._core import (
    Linker as _Linker,
    Mode,
    get_default_mode,
    get_mode,
    linker_names,
    mode_names,
    register_mode,
)

__all__ = [
    "Mode",
    "get_default_mode",
    "get_mode",
    "linker_names",
    "mode_names",
    "register_linker",
    "register_mode",
]  # and those of bitale.compile.rewriters

Mode.__module__ = __name__

# What bitale.compile.rewriters has.
REWRITERS = (
    "AddDestroyHandler",
    "AddFeatureOptimizer",
    "PrintCurrentFunctionGraph",
    "local_useless",
    "optdb",
    "predefined_optimizers",
    "register_optimizer",
)


def register_linker(name: str, linker: _Linker) -> None:
    """Give a linker a name, by which modes find it.

    Parameters
    ----------
    name : str
        Name.
    linker : Linker
        Linker.

    Raises
    ------
    ValueError
        For a name that is taken.

    See Also
    --------
    register_mode

    Examples
    --------
    >>> from bitale.compile.mode import register_linker
    >>> seen = []
    >>> register_linker("telling", bt.link.VMLinker(callback=lambda node, **_: seen.append(str(node.op))))
    >>> x = pt.dscalar("x")
    >>> bt.function([x], pt.exp(x) * 2, mode=bt.Mode("telling", optimizer=None))(0.0)
    array(2.)
    >>> seen
    ['Exp', 'Mul']
    """
    if name in _linkers():
        raise ValueError(f"register_linker: there is a linker {name!r} already")
    if not isinstance(linker, _Linker):
        raise TypeError(f"register_linker: expected a Linker, got {linker!r}")
    _core.register_linker(name, linker)


def _linkers() -> dict[str, _Linker]:
    """By name: those of this process, what PyTensor calls them, and those that were registered."""
    from bitale.link.compiled import linker_object  # which few programs need

    names = [*linker_names(), *_core.other_linker_names()]
    return {name: linker_object(_Linker(name)) for name in names} | _core.registered_linkers()


def __getattr__(name: str) -> Any:
    if name == "Linker":
        return importlib.import_module("bitale.link").Linker
    if name == "predefined_linkers":
        return _linkers()
    if name in (
        "FAST_RUN",
        "FAST_START",
        "FAST_COMPILE",
        "C",
        "VM",
        "CVM",
    ):  # created at each access, with the current configuration
        return _core.get_mode(name)
    if name == "predefined_modes":
        return {**{each: _core.get_mode(each) for each in mode_names()}, **_core.registered_modes()}
    if name in REWRITERS or name.startswith("OPT_"):
        return getattr(importlib.import_module("bitale.compile.rewriters"), name)
    return absent(__name__)(name)


def stored_mode(
    linker: _Linker, optimizer: Any, included: Any, excluded: Any, required: Any, maker: Any = None
) -> Mode:
    """The Mode that pickle has stored."""
    mode = _core.mode_of_stored(linker, optimizer, included, excluded, required)
    kind = None
    if isinstance(maker, tuple):
        kind, maker = maker
    if maker is not None:
        mode = _core.mode_with_maker_of(mode, _core.DebugMode(**maker))
    return mode if kind is None else mode.with_function_maker(kind)
