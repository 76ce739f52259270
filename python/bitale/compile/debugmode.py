"""DebugMode, and what it finds. Names are those of PyTensor's pytensor.compile.debug.debugmode."""

from __future__ import annotations

from bitale._core import (
    BadDestroyMap,
    BadOptimization,
    BadThunkOutput,
    BadViewMap,
    DebugMode,
    DebugModeError,
    InvalidValueError,
    StochasticOrder,
)

__all__ = [
    "BadDestroyMap",
    "BadOptimization",
    "BadThunkOutput",
    "BadViewMap",
    "DebugMode",
    "DebugModeError",
    "InvalidValueError",
    "StochasticOrder",
]

for _class in (
    BadDestroyMap,
    BadOptimization,
    BadThunkOutput,
    BadViewMap,
    DebugMode,
    DebugModeError,
    InvalidValueError,
    StochasticOrder,
):
    _class.__module__ = __name__
del _class
