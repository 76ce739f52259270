"""From expressions to native functions."""

from bitale._core import UnusedInputError, UpdateConflictError
from bitale.compile.builders import OpFromGraph
from bitale.compile.function import Function, function
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
from bitale.compile.io import Container, In, Out
from bitale.compile.maker import FunctionMaker, std_fgraph
from bitale.compile.monitor import MonitorMode, NanGuardError, NanGuardMode, detect_nan
from bitale.compile.mode import Mode, get_default_mode, get_mode, mode_names
from bitale.compile.sharedvalue import SharedVariable, shared
