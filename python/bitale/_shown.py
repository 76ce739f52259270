"""Values in messages."""

from __future__ import annotations

from typing import Any


def shown(value: Any) -> str:
    """repr(value), or its type where that fails, as of lists that are nested too deep."""
    try:
        return repr(value)
    except Exception:
        return f"an object of type {type(value).__name__}"
