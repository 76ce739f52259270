"""Values in messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def shown(value: Any) -> str:
    """repr(value), or its type where that fails, as it does for lists that are nested too deep."""
    try:
        return repr(value)
    except Exception:
        return f"an object of type {type(value).__name__}"


def unexpected_keyword(who: str, name: str, known: Iterable[str]) -> TypeError:
    """The error for a keyword that a function does not have, with the one that may be meant."""
    import difflib

    names = list(known)
    near = difflib.get_close_matches(name, names, 1)
    text = f"{who}() got an unexpected keyword argument '{name}'"
    text += f". Did you mean '{near[0]}'?" if near else ""
    return TypeError(f"{text}\n  expected {', '.join(names)}")
