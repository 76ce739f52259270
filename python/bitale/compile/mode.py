"""How to compile."""

from __future__ import annotations

from typing import Any

from bitale import _core
from bitale._core import Mode, get_default_mode, get_mode, mode_names

Mode.__module__ = __name__


def stored_mode(linker: str, optimizer: str, included: Any, excluded: Any, required: Any, maker: Any = None) -> Mode:
    """The Mode that pickle has stored."""
    mode = _core.mode_of_stored(linker, optimizer, included, excluded, required)
    kind = None
    if isinstance(maker, tuple):
        kind, maker = maker
    if maker is not None:
        mode = _core.mode_with_maker_of(mode, _core.DebugMode(**maker))
    return mode if kind is None else mode.with_function_maker(kind)
