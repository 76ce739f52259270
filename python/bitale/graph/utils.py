"""Errors and notes of graphs, under PyTensor's name for this module."""

from __future__ import annotations

import traceback
from typing import Any

from bitale._core import InconsistencyError, MissingInputError
from bitale.graph.tag import Scratchpad

__all__ = [
    "InconsistencyError",
    "MissingInputError",
    "Scratchpad",
    "add_tag_trace",
    "get_variable_trace_string",
    "simple_extract_stack",
]


def simple_extract_stack(
    f: Any = None, limit: int | None = None, skips: list[str] | None = None
) -> list[tuple[str, int, str, str]]:
    """The lines that are being run: file, line number, function and text of each, the innermost last.

    f: the frame to start at. limit: how many lines. skips: files in whose name one of these texts occurs are left out at
    the inner end.
    """
    found = traceback.extract_stack(f)[: None if f is not None else -1]
    while found and any(skip in found[-1].filename for skip in skips or ()):
        found.pop()
    return [
        (each.filename, each.lineno or 0, each.name, each.line or "")
        for each in (found if limit is None else found[-limit:])
    ]


def add_tag_trace(thing: Any, user_line: int | None = None) -> Any:
    """thing as it is: the lines that make a variable or node are noted when it is made, config.traceback__limit of them."""
    return thing


def get_variable_trace_string(v: Any) -> str:
    """Where a variable was made, as text; empty where that is not known."""
    return str(v.where or "")
