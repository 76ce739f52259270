"""Linkers: how a compiled graph is run, your own functions around each of its nodes, and your own linkers."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from bitale._core import DualLinkerError, NodeThunk, linker_names

if TYPE_CHECKING:
    from bitale.link.basic import (
        Container,
        DualLinker,
        JITLinker,
        Linker,
        LocalLinker,
        OpWiseCLinker,
        PerformLinker,
        WrapLinker,
        WrapLinkerMany,
    )
    from bitale.link.vm import VMLinker

__all__ = [
    "Container",
    "DualLinker",
    "DualLinkerError",
    "JITLinker",
    "Linker",
    "LocalLinker",
    "NodeThunk",
    "OpWiseCLinker",
    "PerformLinker",
    "VMLinker",
    "WrapLinker",
    "WrapLinkerMany",
    "linker_names",
]


def __getattr__(name: str) -> Any:
    """Import rarely needed names on first access."""
    if name in ("basic", "utils", "vm"):
        return importlib.import_module(f"bitale.link.{name}")
    if name == "VMLinker":
        return importlib.import_module("bitale.link.vm").VMLinker
    if name in __all__:
        return getattr(importlib.import_module("bitale.link.basic"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
