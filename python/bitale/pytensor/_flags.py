"""``PYTENSOR_FLAGS=mode=BITALE``: PyTensor refuses names of modes that it does not know while it is imported, and has no entry point for
them. The flag is therefore taken out before PyTensor reads it, which needs `bitale.pytensor` to be imported first."""

from __future__ import annotations

import os

_NAME = "PYTENSOR_FLAGS"


def take_mode() -> bool:
    """Whether the flags had ``mode=BITALE``, which are left without it."""
    flags = [flag.strip() for flag in os.environ.get(_NAME, "").split(",")]
    others = [flag for flag in flags if flag.replace(" ", "").upper() != "MODE=BITALE"]
    if len(others) == len(flags):
        return False
    os.environ[_NAME] = ",".join(others)
    return True
