"""How compilations show themselves: one line of a terminal or notebook, which is written again and again while a long one lasts,
and messages of the logger ``bitale.compile`` at level DEBUG."""

from __future__ import annotations

import logging
import sys
from typing import Any

_width = 0  # of the line that is shown


def _watched() -> Any:
    """The stream that somebody looks at: a terminal, or the output of a notebook's cell."""
    stream = sys.stderr
    try:
        is_watched = stream.isatty() or type(stream).__module__.startswith("ipykernel")
    except (AttributeError, ValueError):  # there is none, or it is closed
        return None
    return stream if is_watched else None


def _write(text: str, end: str) -> None:
    global _width
    stream = _watched()
    if stream is None:
        return
    try:
        stream.write("\r" + text.ljust(_width) + end)
        stream.flush()
    except (OSError, ValueError):
        return
    _width = 0 if end else len(text)


def _described(stage: str, nodes: int) -> str:
    return f"{stage}, {nodes} nodes" if nodes else stage


def show(stage: str, nodes: int, seconds: float) -> None:
    """Of a compilation that has taken so many seconds."""
    _write(f"bitale: {_described(stage, nodes)}, {seconds:.1f} s", "")


def end(seconds: float) -> None:
    """A compilation that was shown has ended."""
    if _width:
        _write(f"bitale: compiling took {seconds:.1f} s", "\n")


def log(stage: str, nodes: int, seconds: float) -> None:
    """Of a stage that has ended."""
    logging.getLogger("bitale.compile").debug("%s: %.4f s", _described(stage, nodes), seconds)
