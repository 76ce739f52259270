"""Errors and notes of graphs, under PyTensor's name for this module."""

from __future__ import annotations

import traceback
from abc import ABCMeta
from typing import Any

from bitale._core import InconsistencyError, MissingInputError
from bitale.graph.tag import Scratchpad

__all__ = [
    "AssocList",
    "InconsistencyError",
    "MetaObject",
    "MetaType",
    "MethodNotDefined",
    "MissingInputError",
    "Scratchpad",
    "add_tag_trace",
    "get_variable_trace_string",
    "simple_extract_stack",
]


def simple_extract_stack(
    f: Any = None, limit: int | None = None, skips: list[str] | None = None
) -> list[tuple[str, int, str, str]]:
    """The lines that are being run: file, line number, function and text of each, the innermost last.

    f: the frame to start at. limit: how many lines. skips: files in whose name one of these texts occurs are left out at
    the inner end.
    """
    found = traceback.extract_stack(f)[: None if f is not None else -1]
    while found and any(skip in found[-1].filename for skip in skips or ()):
        found.pop()
    return [
        (each.filename, each.lineno or 0, each.name, each.line or "")
        for each in (found if limit is None else found[-limit:])
    ]


def add_tag_trace(thing: Any, user_line: int | None = None) -> Any:
    """Returns thing unchanged: the lines that build a variable or node are recorded when it is built, config.traceback__limit of them."""
    return thing


def get_variable_trace_string(v: Any) -> str:
    """Where a variable was made, as text; empty where that is not known."""
    return str(v.where or "")


class MethodNotDefined(Exception):
    """A class lacks a method that its interface requires."""


def _values_of(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, each) for each in self.__props__)


def _has_equal_values(self: Any, other: Any) -> bool:
    return self is other or (type(self) is type(other) and _values_of(self) == _values_of(other))


def _text_of_values(self: Any) -> str:
    values = ", ".join(f"{each}={getattr(self, each)!r}" for each in self.__props__)
    return f"{type(self).__name__}{{{values}}}" if values else type(self).__name__


class MetaType(ABCMeta):
    """The class of classes whose objects are equal if the attributes that `__props__` names are."""

    def __new__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> Any:
        props = members.get("__props__")
        if props is not None:
            if not isinstance(props, tuple) or not all(isinstance(each, str) for each in props):
                raise TypeError(f"{name}.__props__: expected a tuple of names, got {props!r}")
            members = {
                "_props": _values_of,
                "_props_dict": lambda self: dict(zip(self.__props__, _values_of(self))),
                "__hash__": lambda self: hash((type(self), _values_of(self))),
                "__eq__": _has_equal_values,
                "__str__": _text_of_values,
                **members,
            }
        return super().__new__(cls, name, bases, members)


class MetaObject(metaclass=MetaType):
    """The base of classes whose `__props__` say which objects are equal. Ops and types have this by themselves.

    >>> from bitale.graph.utils import MetaObject
    >>> class Point(MetaObject):
    ...     __props__ = ("x", "y")
    ...     def __init__(self, x, y):
    ...         self.x, self.y = x, y
    >>> Point(1, 2) == Point(1, 2), str(Point(1, 2))
    (True, 'Point{x=1, y=2}')
    """

    __slots__: Any = ()


class AssocList:
    """A dict whose keys need not be hashable."""

    def __init__(self) -> None:
        self._dict: dict[Any, Any] = {}
        self._list: list[tuple[Any, Any]] = []

    def _position(self, key: Any) -> int | None:
        return next(
            (i for i, (each, _) in enumerate(self._list) if each is key or each == key), None
        )

    def get(self, item: Any, default: Any = None) -> Any:
        try:
            if item in self._dict:
                return self._dict[item]
        except TypeError:
            pass
        at = self._position(item)
        return default if at is None else self._list[at][1]

    def __getitem__(self, item: Any) -> Any:
        return self.get(item)

    def __setitem__(self, item: Any, value: Any) -> None:
        try:
            self._dict[item] = value
        except TypeError:
            self.discard(item)
            self._list.append((item, value))

    def discard(self, item: Any) -> bool:
        """Remove a key; returns whether it was present."""
        try:
            if item in self._dict:
                del self._dict[item]
                return True
        except TypeError:
            pass
        at = self._position(item)
        if at is not None:
            del self._list[at]
        return at is not None

    def __delitem__(self, item: Any) -> None:
        if not self.discard(item):
            raise KeyError(item)

    def clear(self) -> None:
        self._dict.clear()
        self._list.clear()

    def __repr__(self) -> str:
        return f"AssocList({self._dict}, {self._list})"
