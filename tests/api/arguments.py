"""The arguments of a function of the package, whether it is written in Python or bound."""

from __future__ import annotations

import inspect
import re
from typing import Any


def _split(text: str) -> list[str]:
    """At commas that are in no brackets."""
    out, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            out.append(text[start:i])
            start = i + 1
    return [part.strip() for part in [*out, text[start:]] if part.strip()]


def names(function: Any) -> list[str] | None:
    """Names in order, "*args" and "**kwargs" with their stars, keyword-only markers left out; None where none are known."""
    signatures = getattr(function, "__nb_signature__", None)
    if signatures:
        text = signatures[0][0]
        inside = text[text.index("(") + 1 : text.rindex(")")] if "->" not in text else text[text.index("(") + 1 : text.rindex(") ->")]
        return [re.split(r"[:=]", part)[0].strip() for part in _split(inside) if part not in ("*", "/")]
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [stars.get(p.kind, "") + p.name for p in parameters]
