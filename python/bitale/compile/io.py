"""Inputs and outputs of functions with options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bitale import _core
from bitale._core import Container, In, Out

__all__ = ["Container", "In", "Out", "SharedVariable", "SymbolicInput", "SymbolicOutput"]


class _IsShared(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return _core.is_shared(instance)


class SharedVariable(metaclass=_IsShared):
    """What shared variables of all types are instances of."""

    if TYPE_CHECKING:
        name: str | None
        type: Any

        def get_value(self, borrow: bool = False) -> Any: ...

        def set_value(self, new_value: Any, borrow: bool = False) -> None: ...


def refuse(where: str, options: dict[str, Any]) -> None:
    """Raises for options that are asked for but not there."""
    for name, value in options.items():
        if value not in (None, False):
            raise NotImplementedError(f"{where}: {name}={value!r}")


Container.__module__ = In.__module__ = Out.__module__ = __name__

SymbolicInput = In
SymbolicOutput = Out
