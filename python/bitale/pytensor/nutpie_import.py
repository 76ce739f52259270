"""The import of nutpie without that of all of ArviZ.

nutpie calls two functions of ArviZ, which make the trace. They are those of `arviz_base`, whereas the package `arviz` imports statistics and plots,
too, with parts of SciPy and Matplotlib, which takes longer than everything else between a model and its first draw.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import importlib.util
import sys
from types import ModuleType
from typing import Any, Iterator

_OF_ARVIZ_BASE = ("dict_to_dataset", "from_dict")


class _ArvizOnDemand(ModuleType):
    """What nutpie has as its global variable `arviz`: a function that it takes from there is imported when it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        _remove(self)  # so that the name means the package itself
        return getattr(importlib.import_module("arviz_base" if name in _OF_ARVIZ_BASE else "arviz"), name)


def _remove(module: ModuleType) -> None:
    if sys.modules.get(module.__name__) is module:
        del sys.modules[module.__name__]


def _consists_of_packages() -> bool:
    """Whether this is an ArviZ that takes these functions from `arviz_base`, as it does since version 1."""
    try:
        major = importlib.metadata.version("arviz").partition(".")[0]
    except importlib.metadata.PackageNotFoundError:
        return False
    return major.isdigit() and int(major) >= 1 and all(importlib.util.find_spec(name) for name in ("arviz", "arviz_base"))


@contextlib.contextmanager
def arviz_on_demand() -> Iterator[None]:
    """Modules that import ArviZ in this block get its functions on demand. Whoever imports it later gets the package."""
    if "arviz" in sys.modules or not _consists_of_packages():
        yield
        return
    module = _ArvizOnDemand("arviz")
    sys.modules["arviz"] = module
    try:
        yield
    finally:
        _remove(module)
