"""From expressions to native functions."""

from __future__ import annotations

import importlib
from typing import Any

from bitale._core import Supervisor, UnusedInputError, UpdateConflictError
from bitale.compile.builders import OpFromGraph
from bitale.compile.function import Function, function, function_dump
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
from bitale.compile.io import Container, In, Out, SymbolicInput, SymbolicOutput
from bitale.compile.maker import FunctionMaker, std_fgraph
from bitale.compile.monitor import MonitorMode, NanGuardError, NanGuardMode, detect_nan
from bitale.compile.mode import Mode, get_default_mode, get_mode, mode_names, register_linker, register_mode
from bitale.compile.sharedvalue import SharedVariable, collect_new_shareds, generic, shared, shared_constructor
from bitale.compile.ops import FromFunctionOp, as_op, wrap_py


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

def __getattr__(name: str) -> Any:
    if name in ("FAST_RUN", "FAST_COMPILE", "C", "VM", "CVM", "predefined_modes", "predefined_linkers"):
        return getattr(importlib.import_module("bitale.compile.mode"), name)
    if name == "ProfileStats":  # few programs need it
        return importlib.import_module("bitale.profile").ProfileStats
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

from bitale import _geography as _geography

_geography.add_modules(__name__)
