"""Which PyTensor the bridge needs."""

from __future__ import annotations

import importlib
import importlib.metadata

_NEEDED = (3, 3)


def check() -> None:
    """ImportError where PyTensor is absent or too old."""
    needed = ".".join(map(str, _NEEDED))
    try:
        importlib.import_module("pytensor")
    except ModuleNotFoundError as error:
        if error.name != "pytensor":
            raise
        raise ImportError(f"bitale.pytensor needs PyTensor {needed} or newer, and there is none: pip install 'pytensor>={needed}'") from None
    found = importlib.metadata.version("pytensor")
    if tuple(int(part) for part in found.split(".")[:2] if part.isdigit()) < _NEEDED:
        raise ImportError(f"bitale.pytensor needs PyTensor {needed} or newer, and this is {found}")
