"""The parameters of the package's functions, both those written in Python and those bound from C++."""

from __future__ import annotations

import enum
import inspect
import re
from typing import Any


def _split(text: str) -> list[str]:
    """Splits the text at the commas that are not inside brackets."""
    out, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            out.append(text[start:i])
            start = i + 1
    return [part.strip() for part in [*out, text[start:]] if part.strip()]


def _inside(function: Any) -> str | None:
    """The parameter list in the signature of a bound function, or None for a Python function."""
    signatures = getattr(function, "__nb_signature__", None)
    if not signatures:
        return None
    text = signatures[0][0]
    return str(
        text[text.index("(") + 1 : text.rindex(")")]
        if "->" not in text
        else text[text.index("(") + 1 : text.rindex(") ->")]
    )


def _of_python(function: Any) -> list[inspect.Parameter] | None:
    """The parameters of a Python function, or None where its signature is unknown. Those of an Enum are "*values", as
    Python has them since 3.12; before, they are those of the call that makes a class."""
    if isinstance(function, enum.EnumMeta):
        return [inspect.Parameter("values", inspect.Parameter.VAR_POSITIONAL)]
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


def required(function: Any) -> list[str] | None:
    """The arguments that must be passed by position or name, "*args" with its star; None where the signature is
    unknown."""
    inside = _inside(function)
    if inside is not None:
        found = []
        for part in _split(inside):
            if part == "*":
                break
            name = re.split(r"[:=]", part)[0].strip()
            if "=" not in part.split(":")[-1] and name != "/" and not name.startswith("**"):
                found.append(name)
        return found
    parameters = _of_python(function)
    if parameters is None:
        return None
    return [
        ("*" if p.kind == p.VAR_POSITIONAL else "") + p.name
        for p in parameters
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL)
        and p.default is p.empty
    ]


def names(function: Any) -> list[str] | None:
    """Names in order, "*args" and "**kwargs" with their stars, keyword-only markers left out; None where the signature
    is unknown."""
    inside = _inside(function)
    if inside is not None:
        return [
            re.split(r"[:=]", part)[0].strip() for part in _split(inside) if part not in ("*", "/")
        ]
    parameters = _of_python(function)
    if parameters is None:
        return None
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [stars.get(p.kind, "") + p.name for p in parameters]


def parameters(function: Any) -> list[str] | None:
    """Like `names`, with "=default" behind each that has one, and "*" before those that are given by name only; of a
    class those of its constructor."""
    if (
        inspect.isclass(function)
        and type(getattr(function, "__init__", None)).__name__ == "nb_method"
    ):
        function = function.__init__
    inside = _inside(function)
    if inside is not None:
        values = function.__nb_signature__[0][2] or ()
        out = []
        for part in _split(inside):
            name = re.split(r"[:=]", part)[0].strip()
            default = re.search(r"= ?\\(\d+)$", part)
            if name != "self":
                out.append(
                    name
                    + (
                        f"={values[int(default[1])]!r}"
                        if default
                        else f"={part.partition(' = ')[2]}"
                        if " = " in part
                        else ""
                    ).replace(" ", "")
                )
        return out
    found = _of_python(function)
    if found is None:
        return None
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    out = []
    for p in found:
        if p.kind == p.KEYWORD_ONLY and not any(each.startswith("*") for each in out):
            out.append("*")
        out.append(
            stars.get(p.kind, "")
            + p.name
            + ("" if p.default is p.empty else "=" + repr(p.default).replace(" ", ""))
        )
    return out
