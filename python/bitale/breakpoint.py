"""Breakpoints in expressions: a compiled function stops, and its values can be looked at and changed."""

from __future__ import annotations

import sys
from typing import Any

from bitale import _core

__all__ = ["PdbBreakpoint"]


def PdbBreakpoint(name: str) -> _core.Op:
    """Op that enters the debugger where a condition holds.

    The op ``(condition, *variables) -> variables`` calls ``sys.breakpointhook``,
    pdb unless the program changes it. There, ``monitored`` is the list of values;
    what is written into them, or replaces them with the same shapes, is used from
    then on.

    Parameters
    ----------
    name : str
        Name of the breakpoint.

    Returns
    -------
    Op
        The op.
    """
    return _core.pdb_breakpoint(name)


def stop(why: str, monitored: list[Any]) -> None:
    """Enters the debugger; `monitored` is for the user."""
    print(f"\nbitale: {why}")
    if monitored:
        print(
            "The values are in the list `monitored`. They can be changed; `continue` goes on with them."
        )
    sys.stdout.flush()
    sys.breakpointhook()
