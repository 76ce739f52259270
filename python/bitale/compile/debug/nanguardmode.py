"""PyTensor's place for NanGuardMode."""

from bitale.compile.monitor import NanGuardMode
