"""Where PyTensor keeps its names: modules of bitale.tensor that find any name of the package, or a class of ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def finder(module: str) -> Callable[[str], Any]:
    """The `__getattr__` of such a module."""

    def found(name: str) -> Any:
        import bitale.tensor
        from bitale.tensor import formula_classes, op_classes, unexported

        for place in (op_classes, formula_classes, unexported):
            if name in place.__all__:
                return getattr(place, name)
        try:
            return vars(bitale.tensor)[name]
        except KeyError:
            raise AttributeError(f"module {module!r} has no attribute {name!r}") from None

    return found
