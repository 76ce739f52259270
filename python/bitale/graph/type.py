"""What kind of value a variable stands for."""

from __future__ import annotations

from typing import Any

from bitale import _core
from bitale._core import TensorConstant, TensorType, TensorVariable, Type, Variable

__all__ = ["HasDataType", "HasShape", "Type"]

Type.__module__ = __name__


def in_same_class(self: Type, otype: Any) -> bool:
    """Whether the other type has the same dtype and rank and broadcasts along the same axes, so that only other lengths may differ.

    >>> pt.dvector.in_same_class(pt.TensorType("float64", (3,))), pt.dvector.in_same_class(pt.fvector)
    (True, False)
    """
    if isinstance(self, TensorType) and isinstance(otype, TensorType):
        return self.dtype == otype.dtype and self.broadcastable == otype.broadcastable
    return bool(self == otype)


def convert_variable(self: Type, var: Any) -> Any:
    """The variable as one of this type: itself, or with lengths that are checked; None where it can't be."""
    if self.is_super(var.type):
        return var
    if isinstance(self, TensorType) and isinstance(var.type, TensorType):
        if self.dtype == var.type.dtype and self.ndim == var.type.ndim and var.type.is_super(self):
            return _core.specify_shape(var, self.shape)
    return None


def filter_variable(self: Type, other: Any, allow_convert: bool = True) -> Any:
    """A variable of this type: other as it is, a constant of what is not a variable, or what convert_variable makes of it.

    TypeError for what can't be one, and for what would have to be converted unless allow_convert.

    >>> pt.TensorType("float64", (3,)).filter_variable(pt.dvector("x")).type.shape
    (3,)
    """
    if not isinstance(other, Variable):
        return self.make_constant(self.filter(other))
    if other.type == self:
        return other
    kind: Any = self  # a type that is written in Python may have a convert_variable of its own
    made = kind.convert_variable(other) if allow_convert else None
    if made is None:
        raise TypeError(
            f"filter_variable: expected a variable of {self}, got {other} of {other.type}; try pt.cast or a change of its rank"
        )
    return made


for _function in (in_same_class, convert_variable, filter_variable):
    setattr(Type, _function.__name__, _function)
del _function

# The classes of a type's variables and constants; a type that is written in Python may specify its own subclasses.
for _type, _name, _class in (
    (Type, "variable_type", Variable),
    (Type, "constant_type", Variable),
    (TensorType, "variable_type", TensorVariable),
    (TensorType, "constant_type", TensorConstant),
):
    setattr(_type, _name, _class)
del _type, _name, _class


class _WithDType(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Type) and hasattr(instance, "dtype")


class _WithShape(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Type) and hasattr(instance, "shape")


class HasDataType(metaclass=_WithDType):
    """Abstract base class of types with a dtype."""


class HasShape(metaclass=_WithShape):
    """Abstract base class of types with a rank and static lengths."""
