"""Variables with a value that persists between calls."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, overload


from bitale import _core
from bitale._shown import unexpected_keyword
from bitale._core import TensorSharedVariable, Type, Variable
from bitale._deprecation import warn_deprecated
from bitale.compile.io import Container, SharedVariable, refuse

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = [
    "Generic",
    "SharedVariable",
    "collect_new_shareds",
    "generic",
    "shared",
    "shared_constructor",
    "shared_of",
]

TensorSharedVariable.__module__ = "bitale.tensor.sharedvar"
TensorSharedVariable.container = property(Container, doc="The cell of its value.")  # type: ignore[attr-defined]


@overload
def shared(
    value: npt.ArrayLike,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
    shape: Any = None,
    **kwargs: Any,
) -> TensorSharedVariable: ...


@overload
def shared(
    value: Any,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
    shape: Any = None,
    **kwargs: Any,
) -> Any: ...


def shared(
    value: Any,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
    shape: Any = None,
    **kwargs: Any,
) -> Any:
    """Create a shared variable, whose value persists between calls.

    Its dtype and rank are those of the value; its lengths may change unless `shape` fixes them.

    Parameters
    ----------
    value : array_like, SciPy or xarray array, numpy.random.Generator, Stream or tree of these
        Initial value, or a value of a class for which `shared_constructor` is
        registered. A dict, dataclass or named tuple becomes a tree of shared variables.
    name : str, optional
        Name of the variable; for a tree, the prefix of all names.
    strict : bool
        Refuse values of another type in `set_value`.
    allow_downcast : bool, optional
        Whether `set_value` may lose precision.
    borrow : bool
        Use the array itself rather than a copy.
    shape : sequence of int or None, optional
        Static lengths.
    **kwargs : object
        Arguments of the constructor of another class.

    Returns
    -------
    TensorSharedVariable or tree of these
        The shared variable.

    Raises
    ------
    TypeError
        If no kind of shared variable fits the value, or for unknown keywords.

    See Also
    --------
    function

    Examples
    --------
    >>> total = bt.shared(0.0, "total")
    >>> x = pt.dscalar("x")
    >>> add = bt.function([x], None, updates={total: total + x})
    >>> add(2.0), add(3.0), total.get_value()
    (None, None, array(5.))
    """
    refuse("shared", {"allow_downcast": allow_downcast})
    if _core.is_tree(value) and not (isinstance(value, list) or type(value) is tuple):
        leaves, structure = _core.tree_flatten(value)
        names = [_dotted(path, name) for path in structure.paths()]
        return structure.unflatten(
            [
                shared(leaf, own, strict, None, borrow, shape, **kwargs)
                for leaf, own in zip(leaves, names)
            ]
        )
    made = shared_constructor(value, name=name, strict=strict, borrow=borrow, shape=shape, **kwargs)
    return made if _core.is_tree(made) else noted(made)  # whose leaves are noted already


def _dotted(path: str, name: str | None) -> str:
    """The name of a leaf of a tree: "layer1.W" for ['layer1']['W']."""
    steps = path.replace("]", "").replace("[", ".").replace("'", "")
    return f"{name}{steps}" if name else steps.lstrip(".")


# Constructors ("module:function") in modules above this one, by the module of the values' classes. They are registered when
# the first such value comes: few programs have one, and the classes belong to modules that are imported with them.
constructors_above: dict[str, str] = {}


def _constructor_above(value: Any) -> str | None:
    for cls in type(value).__mro__:
        for module, constructor in constructors_above.items():
            if f"{cls.__module__}.".startswith(f"{module}."):
                return constructor
    return None


@functools.singledispatch
def shared_constructor(
    value: Any,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    **kwargs: Any,
) -> Any:
    """Makes the shared variable for a value; `shared_constructor.register(cls)` adds one for values of your own class."""
    above = _constructor_above(value)
    if above is not None:
        module, function = above.split(":")
        found = getattr(importlib.import_module(module), function)
        shared_constructor.register(type(value), found)
        return found(value, name=name, strict=strict, allow_downcast=allow_downcast, **kwargs)
    refuse("shared", {"allow_downcast": allow_downcast})
    borrow, shape, broadcastable = (
        kwargs.pop("borrow", False),
        kwargs.pop("shape", None),
        kwargs.pop("broadcastable", None),
    )
    if broadcastable is not None:  # PyTensor's older way to specify lengths of 1
        warn_deprecated("shared's argument broadcastable", "shape", 4, DeprecationWarning)
    if shape is None and broadcastable is not None:
        shape = tuple(1 if each else None for each in broadcastable)
    if kwargs:
        raise unexpected_keyword(
            "shared",
            next(iter(kwargs)),
            ("value", "name", "strict", "allow_downcast", "borrow", "shape"),
        )
    return _core.make_shared(value, name, borrow, shape)


_collecting: contextvars.ContextVar[tuple[list[Any], ...]] = contextvars.ContextVar(
    "collecting", default=()
)


def noted(made: Any) -> Any:
    """A shared variable that was made just now: those who collect them get to know of it."""
    for found in _collecting.get():
        found.append(made)
    return made


@contextlib.contextmanager
def collect_new_shareds() -> Iterator[list[Any]]:
    """The list of the shared variables, generators among them, that are made in a ``with`` block.

    >>> from bitale.compile.sharedvalue import collect_new_shareds
    >>> with collect_new_shareds() as found:
    ...     weights = bt.shared(0.0, "weights")
    >>> found
    [weights]
    """
    found: list[Any] = []
    token = _collecting.set((*_collecting.get(), found))
    try:
        yield found
    finally:
        _collecting.reset(token)


class Generic(Type):
    """The type of any object of Python."""

    __props__ = ()

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        return data


generic = Generic()


def shared_of(type: Any, value: Any, name: str | None = None, borrow: bool = False) -> Any:
    """A shared variable of any type. TypeError for anything that is not a value of the type."""
    return _core.make_shared_of(type, value, name, borrow)


def _get_value(self: Any, borrow: bool = False) -> Any:
    """The value of a shared variable: a copy, unless borrow. TypeError for other variables."""
    return _core.shared_value(self, borrow)


def _set_value(self: Any, new_value: Any, borrow: bool = False) -> None:
    """Stores a value of the type in a shared variable. TypeError for other variables."""
    _core.set_shared_value(self, new_value, borrow)


for _name, _value in (("get_value", _get_value), ("set_value", _set_value)):
    setattr(Variable, _name, _value)
