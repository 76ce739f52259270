"""Lists whose elements are values of one type: their type, variables and ops."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar

import numpy as np

from bitale import _core
from bitale._core import TensorVariable, Variable, as_tensor_variable
from bitale.graph.basic import Apply
from bitale.graph.op import Op
from bitale.graph.type import Type

__all__ = [
    "Append",
    "Count",
    "Extend",
    "GetItem",
    "Index",
    "Insert",
    "Length",
    "MakeList",
    "Remove",
    "Reverse",
    "TypedListConstant",
    "TypedListType",
    "TypedListVariable",
    "append",
    "count",
    "extend",
    "getitem",
    "index_",
    "insert",
    "length",
    "make_list",
    "remove",
    "reverse",
]


Result = TypeVar("Result", bound=Variable)


class TypedListVariable(Variable):
    """A variable whose values are lists. Its methods are the functions of this module; they return new lists."""

    @property
    def ttype(self) -> Any:
        """The type of the elements."""
        return _elements_type(self)

    def __len__(self) -> int:
        raise TypeError(
            "len(x): the length of a typed list is known when a function is called; x.length() is its variable"
        )

    def __iter__(self) -> NoReturn:
        raise TypeError(
            "the length of a typed list is known when a function is called, so it can't be iterated over; x[i] is its element i"
        )

    def __getitem__(self, index: Any) -> Any:
        """An element by its position, or the elements of a slice of integers."""
        return getitem(self, index)

    def append(self, toAppend: Any) -> TypedListVariable:
        """A list with an element behind all others."""
        return append(self, toAppend)

    def extend(self, toAppend: Any) -> TypedListVariable:
        """This list with another of the same type behind it."""
        return extend(self, toAppend)

    def insert(self, index: Any, toInsert: Any) -> TypedListVariable:
        """A list with an element at a position."""
        return insert(self, index, toInsert)

    def remove(self, toRemove: Any) -> TypedListVariable:
        """A list without the first element that equals another. ValueError in a call where there is none."""
        return remove(self, toRemove)

    def reverse(self) -> TypedListVariable:
        """This list from its end to its beginning."""
        return reverse(self)

    def count(self, elem: Any) -> TensorVariable:
        """How many elements equal another."""
        return count(self, elem)

    def ind(self, elem: Any) -> TensorVariable:
        """The position of the first element that equals another; `index` is another attribute of variables."""
        return index_(self, elem)

    def length(self) -> TensorVariable:
        """How many elements there are."""
        return length(self)


class TypedListConstant(TypedListVariable):
    """A list that never changes."""

    @property
    def data(self) -> list[Any]:
        """A copy of the list."""
        return list(_core.constant_value(self))

    value = data

    def signature(self) -> tuple[Any, ...]:
        """What equal constants have in common: the type, and the signature of each element."""
        return self.type, tuple(self.ttype.make_constant(each).signature() for each in self.data)


class TypedListType(Type):
    """Lists of values of a type; with a depth, lists of such lists.

    >>> from bitale.typed_list import TypedListType
    >>> TypedListType(pt.dvector).filter([[1, 2], [3]])
    [array([1., 2.]), array([3.])]
    """

    __props__ = ("ttype",)
    variable_type = TypedListVariable
    constant_type = TypedListConstant

    def __init__(self, ttype: Any, depth: int = 0):
        if not isinstance(ttype, Type):
            raise TypeError(f"TypedListType: expected the type of its elements, got {ttype!r}")
        if depth < 0:
            raise ValueError(f"TypedListType: expected a depth of at least 0, got {depth}")
        self.ttype = TypedListType(ttype, depth - 1) if depth else ttype

    def filter(
        self, data: Any, strict: bool = False, allow_downcast: bool | None = None
    ) -> list[Any]:
        if not isinstance(data, (list, tuple)):
            raise TypeError(f"expected a list, got {data!r}")
        return [
            self.ttype.filter(each, strict=strict, allow_downcast=allow_downcast) for each in data
        ]

    def get_depth(self) -> int:
        """The number of lists around elements that are not lists, minus one."""
        return self.ttype.get_depth() + 1 if isinstance(self.ttype, TypedListType) else 0

    def values_eq(self, a: Any, b: Any) -> bool:
        return len(a) == len(b) and all(self.ttype.values_eq(x, y) for x, y in zip(a, b))

    def values_eq_approx(self, a: Any, b: Any) -> bool:
        return len(a) == len(b) and all(self.ttype.values_eq_approx(x, y) for x, y in zip(a, b))

    def __str__(self) -> str:
        return f"TypedList <{self.ttype}>"


def _elements_type(x: Variable) -> Any:
    kind: Any = x.type  # a TypedListType
    return kind.ttype


def _list(x: Any, who: str) -> Variable:
    if not isinstance(x, Variable) or not isinstance(x.type, TypedListType):
        raise TypeError(f"{who}: expected a typed list, got {x!r}")
    return x


def _element(x: Variable, given: Any, who: str) -> Variable:
    """given, as an element of the list x."""
    ttype = _elements_type(x)
    element = given if isinstance(given, Variable) else ttype.make_constant(given)
    if not ttype.is_super(element.type):
        raise TypeError(
            f"{who}: expected an element of type {ttype}, got {element} of type {element.type}"
        )
    return element


def _position(given: Any, who: str) -> Variable:
    position = as_tensor_variable(given)
    if position.ndim != 0 or position.dtype[0] not in "iu":
        raise TypeError(
            f"{who}: expected an integer as position, got {position} of type {position.type}"
        )
    return position


def _index_of(values: list[Any], element: Any, ttype: Any, who: str) -> int:
    for i, each in enumerate(values):
        if ttype.values_eq(each, element):
            return i
    raise ValueError(f"{who}: the element is not in the list")


class _ListOp(Op):
    __props__: tuple[str, ...] = ()

    def __str__(self) -> str:
        return type(self).__name__


class GetItem(_ListOp):
    """An element of a list, by its position; or a part of it, by a slice."""

    __props__ = ("start", "stop", "step", "is_slice")

    def __init__(self, part: slice | None = None):
        part_given = part if part is not None else slice(None)
        self.start, self.stop, self.step, self.is_slice = (
            part_given.start,
            part_given.stop,
            part_given.step,
            part is not None,
        )

    def make_node(self, x: Any, *index: Any) -> Apply:
        x = _list(x, "getitem")
        if self.is_slice:
            return Apply(self, [x], [x.type()])
        return Apply(self, [x, _position(index[0], "getitem")], [x.type.ttype()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        values = inputs[0]
        if self.is_slice:
            output_storage[0][0] = list(values[slice(self.start, self.stop, self.step)])
            return
        index = int(inputs[1])
        if not -len(values) <= index < len(values):
            raise IndexError(
                f"getitem: position {index} is out of bounds for a list of {len(values)} elements"
            )
        output_storage[0][0] = values[index]


class _Changed(_ListOp):
    """A list that is made of a list and other values."""

    def __init__(self, inplace: bool = False):
        if inplace:
            raise NotImplementedError(
                f"{type(self).__name__}: inplace=True is not supported: a changed list is a new one"
            )

    def _inputs(self, x: Variable, others: tuple[Any, ...]) -> list[Variable]:
        raise NotImplementedError

    def _changed(self, values: list[Any], others: list[Any], ttype: Any) -> list[Any]:
        raise NotImplementedError

    def make_node(self, x: Any, *others: Any) -> Apply:
        x = _list(x, type(self).__name__)
        return Apply(self, [x, *self._inputs(x, others)], [x.type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = self._changed(list(inputs[0]), inputs[1:], node.inputs[0].type.ttype)


class Append(_Changed):
    """A list with an element behind all others."""

    def _inputs(self, x: Variable, others: tuple[Any, ...]) -> list[Variable]:
        return [_element(x, others[0], "append")]

    def _changed(self, values: list[Any], others: list[Any], ttype: Any) -> list[Any]:
        return [*values, others[0]]


class Extend(_Changed):
    """One list behind another of the same type."""

    def _inputs(self, x: Variable, others: tuple[Any, ...]) -> list[Variable]:
        other = _list(others[0], "extend")
        if other.type != x.type:
            raise TypeError(f"extend: expected lists of one type, got {x.type} and {other.type}")
        return [other]

    def _changed(self, values: list[Any], others: list[Any], ttype: Any) -> list[Any]:
        return [*values, *others[0]]


class Insert(_Changed):
    """A list with an element at a position."""

    def _inputs(self, x: Variable, others: tuple[Any, ...]) -> list[Variable]:
        return [_position(others[0], "insert"), _element(x, others[1], "insert")]

    def _changed(self, values: list[Any], others: list[Any], ttype: Any) -> list[Any]:
        values.insert(int(others[0]), others[1])
        return values


class Remove(_Changed):
    """A list without the first element that equals another. ValueError where there is none."""

    def _inputs(self, x: Variable, others: tuple[Any, ...]) -> list[Variable]:
        return [_element(x, others[0], "remove")]

    def _changed(self, values: list[Any], others: list[Any], ttype: Any) -> list[Any]:
        del values[_index_of(values, others[0], ttype, "remove")]
        return values


class Reverse(_Changed):
    """A list from its end to its beginning."""

    def _inputs(self, x: Variable, others: tuple[Any, ...]) -> list[Variable]:
        return []

    def _changed(self, values: list[Any], others: list[Any], ttype: Any) -> list[Any]:
        return values[::-1]


class _Number(_ListOp):
    """A whole number that is known of a list."""

    def _inputs(self, x: Variable, others: tuple[Any, ...]) -> list[Variable]:
        return [_element(x, others[0], type(self).__name__)]

    def _number(self, values: list[Any], others: list[Any], ttype: Any) -> int:
        raise NotImplementedError

    def make_node(self, x: Any, *others: Any) -> Apply:
        from bitale.tensor import lscalar

        x = _list(x, type(self).__name__)
        return Apply(self, [x, *self._inputs(x, others)], [lscalar()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = np.asarray(
            self._number(inputs[0], inputs[1:], node.inputs[0].type.ttype), "int64"
        )


class Index(_Number):
    """The position of the first element that equals another. ValueError where there is none."""

    def _number(self, values: list[Any], others: list[Any], ttype: Any) -> int:
        return _index_of(values, others[0], ttype, "index_")


class Count(_Number):
    """How many elements equal another."""

    def _number(self, values: list[Any], others: list[Any], ttype: Any) -> int:
        return sum(bool(ttype.values_eq(each, others[0])) for each in values)


class Length(_Number):
    """How many elements a list has."""

    def _inputs(self, x: Variable, others: tuple[Any, ...]) -> list[Variable]:
        return []

    def _number(self, values: list[Any], others: list[Any], ttype: Any) -> int:
        return len(values)


class MakeList(_ListOp):
    """A list of values of one type."""

    def make_node(self, *elements: Any) -> Apply:
        given = (
            list(elements[0])
            if len(elements) == 1 and isinstance(elements[0], (list, tuple))
            else list(elements)
        )
        if not given:
            raise ValueError("make_list: expected at least one element")
        variables = [
            each if isinstance(each, Variable) else as_tensor_variable(each) for each in given
        ]
        for each in variables:
            if each.type != variables[0].type:
                raise TypeError(
                    f"make_list: expected elements of one type, got {variables[0].type} and {each.type}"
                )
        return Apply(self, variables, [TypedListType(variables[0].type)()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = [copy.deepcopy(each) for each in inputs]


def getitem(x: Any, index: Any) -> Any:
    """An element by its position, or the elements of a slice of integers. IndexError when a call finds no such element."""
    return GetItem(index)(x) if isinstance(index, slice) else GetItem()(x, index)


def _function(op: Op, name: str, result: type[Result]) -> Callable[..., Result]:
    def function(x: Any, *others: Any) -> Result:
        out: Result = op(x, *others)
        return out

    function.__name__ = function.__qualname__ = name
    function.__doc__ = type(op).__doc__
    return function


append = _function(Append(), "append", TypedListVariable)
extend = _function(Extend(), "extend", TypedListVariable)
insert = _function(Insert(), "insert", TypedListVariable)
remove = _function(Remove(), "remove", TypedListVariable)
reverse = _function(Reverse(), "reverse", TypedListVariable)
index_ = _function(Index(), "index_", TensorVariable)
count = _function(Count(), "count", TensorVariable)
length = _function(Length(), "length", TensorVariable)


def make_list(elements: Sequence[Any]) -> Any:
    """A list of these values, all of one type."""
    return MakeList()(*elements)
