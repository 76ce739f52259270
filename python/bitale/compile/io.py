"""Inputs and outputs of functions with options."""

from __future__ import annotations

from typing import Any

from bitale._core import TensorVariable


def refuse(where: str, options: dict[str, Any]) -> None:
    """Raises for options that are asked for but not there."""
    for name, value in options.items():
        if value not in (None, False):
            raise NotImplementedError(f"{where}: {name}={value!r}")


class In:
    """An input, with another keyword name than the variable's."""

    def __init__(self, variable: TensorVariable, name: str | None = None, **options: Any):
        if not isinstance(variable, TensorVariable):
            raise TypeError(f"In: expected a variable, got {variable!r}")
        known = ("value", "update", "mutable", "borrow", "strict", "allow_downcast", "autoname", "implicit", "shared")
        for option in options:
            if option not in known:
                raise TypeError(f"In: no option {option!r}")
        options.pop("autoname", None)
        options.pop("borrow", None)  # inputs are always read in place
        refuse("In", options)
        self.variable = variable
        self.name = name if name is not None else variable.name

    def __repr__(self) -> str:
        return f"In({self.variable})"


class Out:
    """An output. Results are never shared with anybody, so borrow changes nothing."""

    def __init__(self, variable: TensorVariable, borrow: bool = False):
        if not isinstance(variable, TensorVariable):
            raise TypeError(f"Out: expected a variable, got {variable!r}")
        self.variable = variable
        self.borrow = borrow

    def __repr__(self) -> str:
        return f"Out({self.variable}, {self.borrow})"
