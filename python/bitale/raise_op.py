"""Checks in expressions: ``Assert("x must be positive")(x, (x > 0).all())`` is x, and raises when a call finds that the
condition does not hold."""

from __future__ import annotations

import builtins
import importlib
import threading
from typing import Any

from bitale._geography import absent
from bitale import _core

__all__ = ["Assert", "CheckAndRaise", "assert_op"]

_lock = threading.Lock()
_classes: dict[str, type[BaseException]] = {}


def _qualified(cls: type[BaseException]) -> str:
    return cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}:{cls.__qualname__}"


def _imported(name: str) -> Any:
    module, _, path = name.rpartition(":")
    try:
        found: Any = importlib.import_module(module) if module else builtins
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return None
    return found


def _name_of(cls: type[BaseException]) -> str:
    """A name by which the class is found again; classes that can't be imported are numbered."""
    name = _qualified(cls)
    with _lock:
        if _imported(name) is not cls:
            name = next(
                (known for known, other in _classes.items() if other is cls),
                f"{name}#{len(_classes)}",
            )
        _classes[name] = cls
    return name


def exception_called(name: str) -> type[BaseException]:
    """The class of that name; RuntimeError for one that this process can't find."""
    with _lock:
        if name not in _classes:
            found = _imported(name)
            _classes[name] = (
                found
                if isinstance(found, type) and issubclass(found, BaseException)
                else RuntimeError
            )
        return _classes[name]


def CheckAndRaise(exc_type: type[Exception], msg: str = "") -> _core.Op:
    """Op that raises an error where a condition does not hold.

    The op ``(x, *conditions) -> x`` raises ``exc_type(msg)`` in a call in which a
    condition, a scalar, is not true. Derivatives pass through.

    Parameters
    ----------
    exc_type : type
        Class of the exception.
    msg : str
        Its message.

    Returns
    -------
    Op
        The op.

    Raises
    ------
    TypeError
        If `exc_type` is not a class of exceptions.
    """
    if not (isinstance(exc_type, type) and issubclass(exc_type, Exception)):
        raise TypeError(f"CheckAndRaise: expected a subclass of Exception, got {exc_type!r}")
    return _core.check_and_raise(_name_of(exc_type), msg)


def Assert(msg: str = "Assert failed!") -> _core.Op:
    """Op that raises AssertionError where a condition does not hold.

    Parameters
    ----------
    msg : str
        Message.

    Returns
    -------
    Op
        The op ``(x, *conditions) -> x``.
    """
    return CheckAndRaise(AssertionError, msg)


assert_op = Assert()

__getattr__ = absent(__name__)
