"""Transfers between devices: functions that users register decide where a variable lives."""

from __future__ import annotations

from typing import Any, Callable

from bitale._core import as_tensor_variable

__all__ = ["transfer"]

_transfers: list[Callable[[Any, str], Any]] = []


def transfer(var: Any, target: str) -> Any:
    """The variable, where the target says: "cpu", or one that a function given to register_transfer knows. ValueError for
    another one.

    >>> x = pt.dvector("x")
    >>> pt.transfer(x, "cpu") is x
    True
    """
    var = as_tensor_variable(var)
    if target == "cpu":
        return var
    for function in _transfers:
        if (moved := function(var, target)) is not None:
            return moved
    raise ValueError(f"transfer: expected the target \"cpu\", got {target!r}")


def register_transfer(fn: Callable[[Any, str], Any]) -> None:
    """Adds a function that transfer asks: fn(x, target) is x where the target says, or None for a target that it does not know."""
    if not callable(fn):
        raise TypeError(f"register_transfer: expected a function, got {fn!r}")
    _transfers.append(fn)
