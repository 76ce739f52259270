"""Inputs and outputs of functions with options."""

from __future__ import annotations

from collections.abc import MutableSequence
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


class Storage(MutableSequence[Any]):
    """The list of one element, the value of a container."""

    def __init__(self, container: Container):
        self._container = container

    def __len__(self) -> int:
        return 1

    def _require(self, index: Any) -> None:
        if index not in (0, -1):
            raise IndexError(f"a container's storage has one element, got the index {index!r}")

    def __getitem__(self, index: Any) -> Any:
        self._require(index)
        return self._container.value

    def __setitem__(self, index: Any, value: Any) -> None:
        self._require(index)
        self._container.value = value

    def __delitem__(self, index: Any) -> None:
        raise TypeError("a container's storage always has one element")

    def insert(self, index: int, value: Any) -> None:
        raise TypeError("a container's storage always has one element")


Container.__module__ = In.__module__ = Out.__module__ = __name__


def _has_equal_cell(self: Container, other: object) -> bool:
    return isinstance(other, Container) and self.variable is other.variable


for _name, _member in {
    "data": Container.value,  # PyTensor's older name
    "readonly": False,
    "strict": False,
    "allow_downcast": None,
    "storage": property(
        Storage, doc="The value as an element of a list, as in PyTensor: ``container.storage[0]``."
    ),
    "__eq__": _has_equal_cell,
    "__hash__": lambda self: hash((Container, self.variable)),
}.items():
    setattr(Container, _name, _member)
del _name, _member

SymbolicInput = In
SymbolicOutput = Out
