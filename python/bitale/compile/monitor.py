"""Modes that watch a call node by node."""

from __future__ import annotations

import functools
from typing import Any, Callable

import numpy as np

from bitale import _core
from bitale._core import Linker, Mode, NanGuardError
from bitale.configuration import config
from bitale.link import WrapLinker

__all__ = ["MonitorMode", "NanGuardError", "NanGuardMode", "detect_nan"]


NodeFunction = Callable[[Any, int, Any, Any], Any]


def _watched(
    before: NodeFunction | None, after: NodeFunction | None, fgraph: Any, i: int, node: Any, fn: Any
) -> None:
    if before is not None:
        before(fgraph, i, node, fn)
    fn()
    if after is not None:
        after(fgraph, i, node, fn)


def MonitorMode(
    pre_func: NodeFunction | None = None,
    post_func: NodeFunction | None = None,
    optimizer: Any = "default",
    linker: str | Linker = "opwise",
    db: Any = None,
) -> Mode:
    """A mode that calls your functions around each node (PyTensor's MonitorMode).

    pre_func(fgraph, i, node, fn) is called before node, the i-th, and post_func after it; fn.inputs
    and fn.outputs are lists of [value]. optimizer, db: which rewrites, as for Mode. linker: what
    runs each node.
    """
    return Mode(
        WrapLinker([linker], functools.partial(_watched, pre_func, post_func)), optimizer, db
    )


def detect_nan(fgraph: Any, i: int, node: Any, fn: Any) -> None:
    """Prints a node that has computed a nan, with its inputs and outputs: a post_func of MonitorMode."""
    from bitale.printing import debugprint

    if not any(output[0].dtype.kind == "f" and np.isnan(output[0]).any() for output in fn.outputs):
        return
    print("*** NaN detected ***")
    debugprint(node.outputs)
    print(f"Inputs : {[value[0] for value in fn.inputs]}")
    print(f"Outputs: {[value[0] for value in fn.outputs]}")


# Imported lazily: importing logging and pdb takes a third of the time of the package.
def _log_error(message: str) -> None:
    import logging

    logging.getLogger("bitale.compile.nanguardmode").error(message)


def _start_debugger(message: str) -> None:
    import pdb

    print(message)
    pdb.set_trace()


def NanGuardMode(
    nan_is_error: bool | None = None,
    inf_is_error: bool | None = None,
    big_is_error: bool | None = None,
    optimizer: Any = "default",
    linker: Any = None,
    db: Any = None,
    action: str | None = None,
) -> Mode:
    """A mode that lets no nan, no infinity and no magnitude above 1e10 pass (PyTensor's NanGuardMode).

    It checks inputs and constants, then every result. Options that are left out are taken from the
    flags NanGuardMode__nan_is_error, __inf_is_error, __big_is_error and __action. action: "raise" a
    NanGuardError, an AssertionError as in PyTensor; "warn" by logging; or start "pdb". optimizer,
    db: which rewrites, as for Mode. linker: accepted and ignored, it is the virtual machine.
    ValueError when nothing is an error, or for another action.
    """
    action = config.NanGuardMode__action if action is None else action
    report = {"warn": _log_error, "pdb": _start_debugger}.get(action)
    guard = _core.make_nan_guard_linker(nan_is_error, inf_is_error, big_is_error, action, report)
    return Mode(guard, optimizer, db)
