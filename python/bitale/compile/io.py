"""Inputs and outputs of functions with options."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from bitale import _core
from bitale._core import TensorVariable, Variable

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


class Container:
    """A storage cell: the default of an input, the state that an update changes, or the value of a shared variable.

    variable: the shared variable that it is the cell of; TypeError for anything else.
    """

    def __init__(self, variable: Any):
        if not isinstance(variable, SharedVariable):
            raise TypeError(f"Container: expected a shared variable, got {variable!r}")
        self.variable = variable

    @property
    def value(self) -> Any:
        """A copy of the value. TypeError for a new one that is not of the type; the old one then stays."""
        return self.variable.get_value()

    @value.setter
    def value(self, value: Any) -> None:
        self.variable.set_value(value)

    @property
    def name(self) -> str | None:
        return self.variable.name

    @property
    def type(self) -> Any:
        return self.variable.type

    def __repr__(self) -> str:
        return f"<Container {self.name or ''} {self.variable.get_value(borrow=True)!r}>"


class In:
    """Input of a function, with options.

    Parameters
    ----------
    variable : TensorVariable
        The variable.
    name : str, optional
        Keyword of the input; by default the name of the variable.
    value : object, optional
        Default for calls that leave the input out; or a shared variable or
        Container that holds it.
    update : TensorVariable, optional
        Expression whose value the container gets after each call.
    mutable : bool, optional
        Accepted for compatibility with PyTensor: inputs are never written.
    strict : bool
        Take only arrays of just the dtype.
    allow_downcast : bool, optional
        True converts whatever is given, False nothing that would lose
        precision, None also Python floats to config.floatX. By default the
        function decides.
    autoname : bool
        Accepted for compatibility with PyTensor.
    implicit : bool, optional
        Calls cannot give the input; its value is that of the container. By
        default if the value is a shared variable or a Container.
    borrow : bool, optional
        Accepted for compatibility with PyTensor.
    shared : bool
        Accepted for compatibility with PyTensor.

    Raises
    ------
    TypeError
        If the value or update does not have the type of the variable.
    ValueError
        For an update or `implicit` without a value, or `mutable` without
        `borrow`.

    See Also
    --------
    Out, function
    """

    def __init__(
        self,
        variable: Variable,
        name: str | None = None,
        value: Any = None,
        update: Any = None,
        mutable: bool | None = None,
        strict: bool = False,
        allow_downcast: bool | None = None,
        autoname: bool = True,
        implicit: bool | None = None,
        borrow: bool | None = None,
        shared: bool = False,
    ):
        if not isinstance(variable, Variable):
            raise TypeError(f"In: expected a variable, got {variable!r}")
        if mutable and borrow is False:
            raise ValueError(f"In: {variable} can't be mutable without borrow")
        value, held = _value_and_container(variable, value, strict, allow_downcast)
        if value is None and (update is not None or implicit):
            what = "has an update" if update is not None else "is implicit"
            raise ValueError(f"In: {variable} {what}, but no value to start with: give it as value=")
        if shared and not isinstance(value, SharedVariable):
            raise TypeError(f"In: {variable} is declared shared; expected a shared variable as value, got {value!r}")
        self.variable = variable
        self.name = name if name is not None else variable.name if autoname else None
        self.value = value
        self.update = update
        self.strict = bool(strict)
        self.allow_downcast = allow_downcast
        self.implicit = held is not None if implicit is None else bool(implicit)
        self.mutable = update is not None if mutable is None else bool(mutable)
        self.borrow = self.mutable if borrow is None else bool(borrow)
        self.shared = isinstance(value, SharedVariable)
        self.container = held

    def stored(self) -> In:
        """The same with a container for its value."""
        if self.container is not None or self.value is None:
            return self
        made = copy.copy(self)
        made.container = Container(_shared_for(self.variable, self.value, self.name))
        return made

    def holding(self, value: Any) -> In:
        """The same with another value, shared variable or container."""
        made = copy.copy(self)
        made.value, made.container = _value_and_container(self.variable, value, self.strict, self.allow_downcast)
        made.shared = isinstance(value, SharedVariable)
        return made.stored()

    def __repr__(self) -> str:
        return f"In({self.variable})"


def _shared_for(variable: Any, value: Any, name: str | None) -> Any:
    """A shared variable with that value, for the variable's type."""
    if isinstance(variable, TensorVariable):
        return _core.make_shared(value, name, False, variable.type.shape)
    return _core.make_shared_of(variable.type, value, name, False)


def _value_and_container(variable: Variable, value: Any, strict: bool, allow_downcast: bool | None) -> tuple[Any, Container | None]:
    """The value as one of the variable's type, and the container that it is, if it is one. TypeError."""
    held = value if isinstance(value, Container) else Container(value) if isinstance(value, SharedVariable) else None
    if held is not None and not variable.type.is_super(held.type):
        raise TypeError(f"In: {variable} is {variable.type}, but its container holds {held.type}")
    if held is None and value is not None:
        try:
            value = np.array(variable.type.filter(value, strict=strict, allow_downcast=allow_downcast))
        except (TypeError, ValueError) as error:
            raise TypeError(f"In: the value of {variable}: {error}") from error
    return value, held


class Out:
    """Output of a function, with options.

    Parameters
    ----------
    variable : TensorVariable
        The expression.
    borrow : bool
        Accepted for compatibility with PyTensor: results are never shared.

    See Also
    --------
    In, function
    """

    def __init__(self, variable: Variable, borrow: bool = False):
        if not isinstance(variable, Variable):
            raise TypeError(f"Out: expected a variable, got {variable!r}")
        self.variable = variable
        self.borrow = borrow

    def __repr__(self) -> str:
        return f"Out({self.variable}, {self.borrow})"


SymbolicInput = In
SymbolicOutput = Out
