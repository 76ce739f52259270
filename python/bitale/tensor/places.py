"""Where PyTensor keeps its names: modules that have no names of their own and find those of others."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

_of_tensors = ("tensor.op_classes", "tensor.formula_classes", "tensor.unexported", "tensor.index_lists", "tensor")


def _has(home: ModuleType, name: str) -> bool:
    names = getattr(home, "__all__", None)
    return hasattr(home, name) and (names is None or name in names or isinstance(vars(home).get(name), type))


def finder(module: str, *homes: str) -> Callable[[str], Any]:
    """The `__getattr__` of such a module. homes: the modules of the package whose names it finds, by default those of tensors."""

    def found(name: str) -> Any:
        if not name.startswith("_"):
            for home in homes or _of_tensors:
                place = importlib.import_module(f"bitale.{home}")
                if home == "tensor":
                    if name in vars(place):
                        return vars(place)[name]
                elif _has(place, name):
                    return getattr(place, name)
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return found
