"""PyTensor's module for MonitorMode."""

from bitale.compile.monitor import MonitorMode, detect_nan
