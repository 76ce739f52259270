"""PyTensor's module for DebugMode, NanGuardMode and MonitorMode."""

from bitale import _geography as _geography

_geography.add_modules(__name__)
