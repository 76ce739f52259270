"""``bitale config``: every flag with its value, where that comes from, and what it means."""

from __future__ import annotations

import textwrap
from typing import Any

from bitale import _core
from bitale.cli.table import table

_kinds = {"default": "default", "BITALE_FLAGS": "environment", "set": "code"}


def add(verbs: Any, common: Any) -> None:
    parser = verbs.add_parser("config", parents=[common], help="show the configuration flags")
    parser.add_argument("flags", nargs="*", metavar="FLAG", help="these only")
    parser.add_argument(
        "--changed", action="store_true", help="only those that differ from their defaults"
    )
    parser.add_argument("--short", action="store_true", help="without the documentation")
    parser.set_defaults(run=run, show=show)


def run(options: Any) -> list[dict[str, Any]]:
    flags = _core.config_flags()
    for name in {*options.flags} - {flag["name"] for flag in flags}:
        _core.config_get(name)  # KeyError with a suggestion
    out = []
    for flag in flags:
        if options.flags and flag["name"] not in options.flags:
            continue
        kind = _kinds.get(flag["source"], "file")
        if options.changed and kind == "default" and not invalid(flag["name"]):
            continue
        entry = {**flag, "source": kind}
        if kind == "file":
            entry["file"] = flag["source"]
        if problem := invalid(flag["name"]):
            entry["error"] = problem
        if options.short:
            del entry["doc"]
        out.append(entry)
    return out


def invalid(name: str) -> str:
    """What is wrong with the value that the environment or a file gave the flag; "" when nothing is."""
    try:
        _core.config_get(name)
    except ValueError as error:
        return str(error)
    return ""


def show(flags: list[dict[str, Any]]) -> str:
    if not flags:
        return "All flags have their default values."
    if "doc" not in flags[0]:
        return table(
            [[flag["name"], flag["value"], _source(flag), flag.get("error", "")] for flag in flags]
        )
    return "\n".join(_entry(flag) for flag in flags)


def _source(flag: dict[str, Any]) -> str:
    return str(flag.get("file", flag["source"]))


def _entry(flag: dict[str, Any]) -> str:
    allowed = " | ".join(flag["choices"]) or flag["type"]
    fixed = "" if flag["mutable"] else "; fixed at start"
    default = "" if flag["source"] == "default" else f", default {flag['default']!r}"
    doc = textwrap.fill(flag["doc"], 100, initial_indent="    ", subsequent_indent="    ")
    problem = f"    ERROR: {flag['error']}\n" if "error" in flag else ""
    return f"{flag['name']} = {flag['value']}\n{problem}    ({allowed}{fixed}; {_source(flag)}{default})\n{doc}"
