"""Configuration flags as attributes: ``config.floatX``, ``config.mode = "FAST_COMPILE"``."""

from __future__ import annotations

from contextlib import ContextDecorator
from typing import Any, Mapping

from bitale import _core

_types: dict[str, str] = {flag["name"]: flag["type"] for flag in _core.config_flags()}
_parsers: dict[str, Any] = {"bool": lambda text: text == "True", "int": int, "float": float}


class _Change(ContextDecorator):
    """Changes flags for a ``with`` block, or for each call of a decorated function."""

    def __init__(self, changes: dict[str, Any]):
        for name in changes:
            _core.config_get(name)  # KeyError for an unknown one
        self._changes = changes
        self._before: list[dict[str, str]] = []

    def __enter__(self) -> None:
        before: dict[str, str] = {}
        self._before.append(before)
        try:
            for name, value in self._changes.items():
                before[name] = _core.config_get(name)
                _core.config_set(name, str(value))
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *exception: Any) -> None:
        for name, value in self._before.pop().items():
            _core.config_set(name, value)


class Config:
    """All flags. ``print(config)`` shows them with their documentation."""

    def __getattr__(self, name: str) -> Any:
        if name not in _types:
            if name.startswith("__"):
                raise AttributeError(name)
            try:
                _core.config_get(name)
            except KeyError as error:
                raise AttributeError(error.args[0]) from None
        return self.get(name)

    def __setattr__(self, name: str, value: Any) -> None:
        try:
            self.set(name, value)
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_types]

    def get(self, name: str) -> Any:
        """A flag's value; KeyError for an unknown one."""
        text = _core.config_get(name)
        return _parsers.get(_types[name], str)(text)

    def set(self, name: str, value: Any) -> None:
        """Changes a flag; KeyError, ValueError or TypeError when that can't be."""
        _core.config_set(name, str(value))

    def change_flags(self, changes: Mapping[str, Any] | None = None, **more: Any) -> ContextDecorator:
        """Changes flags for a ``with`` block or, as a decorator, for the calls of a function."""
        return _Change({**(changes or {}), **more})

    def config_print(self) -> str:
        """All flags with their documentation."""
        return _core.config_describe()

    def __str__(self) -> str:
        return _core.config_describe()

    def __repr__(self) -> str:
        return "<bitale configuration: " + ", ".join(f"{name}={self.get(name)!r}" for name in _types) + ">"


config = Config()
