"""Transfers between devices: functions that users register decide where a variable lives."""

from __future__ import annotations

from typing import Any, Callable

from bitale._core import as_tensor_variable

__all__ = ["transfer"]

_transfers: list[Callable[[Any, str], Any]] = []


def transfer(var: Any, target: str) -> Any:
    """Transfer a variable to a device.

    Parameters
    ----------
    var : tensor_like
        Variable.
    target : str
        "cpu", or a target that a function given to `register_transfer` knows.

    Returns
    -------
    TensorVariable
        The variable there.

    Raises
    ------
    ValueError
        For an unknown target.

    Examples
    --------
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
    raise ValueError(f'transfer: expected the target "cpu", got {target!r}')


def register_transfer(fn: Callable[[Any, str], Any]) -> None:
    """Register a function that transfers variables.

    Parameters
    ----------
    fn : callable
        Function of a variable and a target; it returns the variable there, or
        None for a target that it does not know.

    Raises
    ------
    TypeError
        If `fn` is not callable.
    """
    if not callable(fn):
        raise TypeError(f"register_transfer: expected a function, got {fn!r}")
    _transfers.append(fn)
