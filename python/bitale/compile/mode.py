"""How to compile."""

from __future__ import annotations

from typing import Any

from bitale import _core
from bitale._core import Mode, get_default_mode, get_mode, mode_names

Mode.__module__ = __name__


def stored_mode(*parts: Any) -> Mode:
    """The Mode that pickle has stored."""
    return _core.mode_of_stored(*parts)
