"""From expressions to native functions."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from bitale._geography import absent
from bitale._core import Supervisor, UnusedInputError, UpdateConflictError
from bitale.compile.builders import OpFromGraph
from bitale.compile.debugmode import (
    BadDestroyMap,
    BadOptimization,
    BadThunkOutput,
    BadViewMap,
    DebugMode,
    DebugModeError,
    InvalidValueError,
    StochasticOrder,
)
from bitale.compile.function import Function, function, function_dump
from bitale.compile.io import Container, In, Out, SymbolicInput, SymbolicOutput
from bitale.compile.maker import FunctionMaker, std_fgraph
from bitale.compile.mode import (
    REWRITERS,
    Mode,
    get_default_mode,
    get_mode,
    mode_names,
    register_linker,
    register_mode,
)
from bitale.compile.sharedvalue import (
    SharedVariable,
    collect_new_shareds,
    generic,
    shared,
    shared_constructor,
)
from bitale.compile.ops import FromFunctionOp, as_op, wrap_py

if TYPE_CHECKING:
    from bitale.compile.monitor import MonitorMode, NanGuardError, NanGuardMode, detect_nan

__all__ = [
    "BadDestroyMap",
    "BadOptimization",
    "BadThunkOutput",
    "BadViewMap",
    "Container",
    "DebugMode",
    "DebugModeError",
    "FromFunctionOp",
    "Function",
    "FunctionMaker",
    "In",
    "InvalidValueError",
    "Mode",
    "MonitorMode",
    "NanGuardError",
    "NanGuardMode",
    "OpFromGraph",
    "Out",
    "SharedVariable",
    "StochasticOrder",
    "Supervisor",
    "SymbolicInput",
    "SymbolicOutput",
    "UnusedInputError",
    "UpdateConflictError",
    "as_op",
    "collect_new_shareds",
    "detect_nan",
    "function",
    "function_dump",
    "generic",
    "get_default_mode",
    "get_mode",
    "mode_names",
    "register_linker",
    "register_mode",
    "shared",
    "shared_constructor",
    "std_fgraph",
    "wrap_py",
]

# Where names are that few programs need, or that differ with the configuration.
_LATER = {
    **dict.fromkeys(("DeepCopyOp", "ViewOp", "deep_copy_op", "view_op"), "bitale.compile.ops"),
    **dict.fromkeys(
        (
            "FAST_RUN",
            "FAST_START",
            "FAST_COMPILE",
            "C",
            "VM",
            "CVM",
            "predefined_modes",
            "predefined_linkers",
        ),
        "bitale.compile.mode",
    ),
    **dict.fromkeys(REWRITERS, "bitale.compile.rewriters"),
    **dict.fromkeys(
        ("MonitorMode", "NanGuardError", "NanGuardMode", "detect_nan"), "bitale.compile.monitor"
    ),
    "ProfileStats": "bitale.profile",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(importlib.import_module(_LATER[name]), name)
    if name.startswith("OPT_"):
        return getattr(importlib.import_module("bitale.compile.rewriters"), name)
    if name == "monitor":
        return importlib.import_module("bitale.compile.monitor")
    return absent(__name__)(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


from bitale import _geography as _geography

_geography.add_modules(__name__)
