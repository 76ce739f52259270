"""The import of nutpie without those of Numba and of all of ArviZ, which take longer than everything else between a model and its first draw.

nutpie calls two functions of ArviZ, which make the trace. They are those of `arviz_base`, whereas the package `arviz` imports statistics and plots,
too, with parts of SciPy and Matplotlib. Of Numba, it decorates a function of its own by `intrinsic`, which is done when Numba is imported.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import importlib.util
import sys
from types import FunctionType, ModuleType
from typing import Any, Iterator

from bitale.pytensor.after_import import after_import

_OF_ARVIZ_BASE = ("dict_to_dataset", "from_dict")


class _ArvizOnDemand(ModuleType):
    """What nutpie has as its global variable `arviz`: a function that it takes from there is imported when it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        _remove(self)  # so that the name means the package itself
        return getattr(
            importlib.import_module("arviz_base" if name in _OF_ARVIZ_BASE else "arviz"), name
        )


def _remove(module: ModuleType) -> None:
    if sys.modules.get(module.__name__) is module:
        del sys.modules[module.__name__]


def _consists_of_packages() -> bool:
    """Whether this is an ArviZ that takes these functions from `arviz_base`, as it does since version 1."""
    try:
        major = importlib.metadata.version("arviz").partition(".")[0]
    except importlib.metadata.PackageNotFoundError:
        return False
    return (
        major.isdigit()
        and int(major) >= 1
        and all(importlib.util.find_spec(name) for name in ("arviz", "arviz_base"))
    )


class _NumbaOnDemand(ModuleType):
    """What nutpie takes `intrinsic` from. Everything else is imported from Numba when it is asked for."""

    def __init__(self) -> None:
        super().__init__("numba.extending")
        self.undecorated: list[FunctionType] = []

    def intrinsic(self, *args: Any, **options: Any) -> Any:
        if len(args) != 1 or not isinstance(args[0], FunctionType) or options:
            return self.__getattr__("intrinsic")(*args, **options)
        self.undecorated.append(args[0])
        return args[0]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        _remove(self)
        return getattr(importlib.import_module("numba.extending"), name)

    def decorate(self, _: ModuleType) -> None:
        """Decorates the functions, by the names that they have in their modules."""
        intrinsic = importlib.import_module("numba.extending").intrinsic
        for function in self.undecorated:
            module = sys.modules.get(function.__module__)  # None where its import has failed
            if getattr(module, function.__name__, None) is function:
                setattr(module, function.__name__, intrinsic(function))


@contextlib.contextmanager
def _instead(module: ModuleType) -> Iterator[None]:
    """In this block, modules import this one by its name; later, the package."""
    sys.modules[module.__name__] = module
    try:
        yield
    finally:
        _remove(module)


@contextlib.contextmanager
def on_demand() -> Iterator[None]:
    """Modules that are imported in this block get functions of ArviZ and Numba when they call them, unless these packages have been imported."""
    with contextlib.ExitStack() as stack:
        if "arviz" not in sys.modules and _consists_of_packages():
            stack.enter_context(_instead(_ArvizOnDemand("arviz")))
        if "numba" not in sys.modules and importlib.util.find_spec("numba"):
            numba = _NumbaOnDemand()
            stack.callback(after_import, "numba", numba.decorate)
            stack.enter_context(_instead(numba))
        yield
