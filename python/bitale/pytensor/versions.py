"""Which PyTensor the bridge needs, and which PyMC and nutpie for nutpie's models."""

from __future__ import annotations

import importlib
import importlib.metadata

_NEEDED = {
    "pytensor": ("PyTensor", (2, 38)),
    "pymc": ("PyMC", (5, 28)),
    "nutpie": ("nutpie", (0, 16)),
}


def parsed(version: str) -> tuple[int, ...]:
    """Its first two parts."""
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())


def check(
    package: str = "pytensor", who: str = "bitale.pytensor", since: tuple[int, ...] = ()
) -> None:
    """ImportError where the package is absent or too old. since: a version that is newer than what the bridge needs."""
    name, minimum = _NEEDED[package]
    needed = ".".join(map(str, since or minimum))
    try:
        importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise ImportError(
            f"{who} needs {name} {needed} or newer, and there is none: pip install '{package}>={needed}'"
        ) from None
    found = importlib.metadata.version(package)
    if parsed(found) < (since or minimum):
        raise ImportError(
            f"{who} needs {name} {needed} or newer, and this is {found}: pip install --upgrade '{package}>={needed}'"
        )
