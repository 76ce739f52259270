"""Definitions of operations, and your own ops in Python: as a subclass of `Op`, or from a function of arrays."""

from __future__ import annotations

import importlib
from typing import Any, Callable, Protocol, Sequence

import numpy as np

from bitale._geography import absent
from bitale import _core
from bitale._core import Apply, Op, Type
from bitale._deprecation import warn_deprecated
from bitale.graph.traversal import io_toposort

__all__ = [
    "HasInnerGraph",
    "Op",
    "ThunkType",
    "as_op",
    "io_connection_pattern",
    "is_thunk_type",
    "wrap_py",
]

Op.__module__ = __name__


def _types(given: Any, what: str) -> tuple[Type, ...]:
    types = tuple(given) if isinstance(given, (list, tuple)) else (given,)
    for type_ in types:
        if not isinstance(type_, Type):
            raise TypeError(f"wrap_py: {what} must be types such as pt.dvector, got {type_!r}")
    return types


def _decorated(module: str, name: str) -> Any:
    """The op that a module has under the name of its function."""
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


class FromFunctionOp(Op):
    """The op of a Python function from arrays to an array, or to a tuple or list of several."""

    __props__ = ("fn", "itypes", "otypes")

    def __init__(
        self,
        fn: Callable[..., Any],
        itypes: Any,
        otypes: Any,
        infer_shape: Callable[..., Any] | None = None,
    ):
        self.fn = fn
        self.itypes = _types(itypes, "itypes")
        self.otypes = _types(otypes, "otypes")
        self.__name__ = fn.__name__
        self.__doc__ = fn.__doc__
        if infer_shape is not None:
            self.infer_shape = infer_shape  # type: ignore[method-assign]

    def __str__(self) -> str:
        return f"FromFunctionOp{{{self.__name__}}}"

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        results = self.fn(*inputs)
        if not isinstance(results, (list, tuple)):
            results = (results,)
        if len(results) != len(self.otypes):
            raise ValueError(
                f"{self.__name__} gave {len(results)} values for {len(self.otypes)} outputs"
            )
        for cell, value in zip(output_storage, results):
            # The inputs are arrays that own their memory: a view of one is either the input itself or has it as its
            # base.
            may_be_view = isinstance(value, np.ndarray) and (
                value.base is not None or any(value is x for x in inputs)
            )
            is_view = may_be_view and any(np.may_share_memory(value, x) for x in inputs)
            cell[0] = value.copy() if is_view else value

    def __reduce__(self) -> Any:
        module, name = self.fn.__module__, self.fn.__qualname__
        try:
            is_found = _decorated(module, name) is self
        except (ImportError, AttributeError):
            is_found = False
        if not is_found:
            raise TypeError(
                f"pickling the op of the function `{name}`: {module}.{name} is not this op; decorate the "
                "function at the top level of a module that can be imported"
            )
        return _decorated, (module, name)


def wrap_py(
    itypes: Any, otypes: Any, infer_shape: Callable[..., Any] | None = None
) -> Callable[[Callable[..., Any]], FromFunctionOp]:
    """Make an op from a function of arrays.

    Used as a decorator, ``@wrap_py([pt.dmatrix], [pt.dvector])``. The op has no
    derivative.

    Parameters
    ----------
    itypes : sequence of Type
        Types of the inputs.
    otypes : sequence of Type
        Types of the outputs.
    infer_shape : callable, optional
        Function of (fgraph, node, input_shapes) that builds the lengths of the
        outputs.

    Returns
    -------
    callable
        Decorator that returns the op.

    Raises
    ------
    TypeError
        For an entry that is not a type.

    Examples
    --------
    >>> @bt.wrap_py([pt.dvector], [pt.dvector])
    ... def flipped(x):
    ...     return x[::-1].copy()
    >>> x = pt.dvector("x")
    >>> bt.function([x], flipped(x) + 1)([1.0, 2.0])
    array([3., 2.])
    """
    itypes, otypes = _types(itypes, "itypes"), _types(otypes, "otypes")

    def decorate(fn: Callable[..., Any]) -> FromFunctionOp:
        return FromFunctionOp(fn, itypes, otypes, infer_shape)

    return decorate


def as_op(
    itypes: Any, otypes: Any, infer_shape: Callable[..., Any] | None = None
) -> Callable[[Callable[..., Any]], FromFunctionOp]:
    """Make an op from a function of arrays; a deprecated name of `wrap_py`.

    Parameters
    ----------
    itypes, otypes : sequence of Type
        Types of the inputs and of the outputs.
    infer_shape : callable, optional
        See `wrap_py`.

    Returns
    -------
    callable
        Decorator that returns the op.

    See Also
    --------
    wrap_py
    """
    warn_deprecated("as_op", "wrap_py")
    return wrap_py(itypes, otypes, infer_shape)


class ThunkType(Protocol):
    """What Op.make_thunk returns: a function without arguments that computes a node from the cells `inputs` into the cells
    `outputs`."""

    inputs: list[list[Any]]
    outputs: list[list[Any]]
    lazy: bool
    perform: Callable[..., None]

    def __call__(self) -> Any: ...


def is_thunk_type(thunk: Any) -> ThunkType:
    """Tell a type checker that a function is a thunk; returns it."""
    return thunk  # type: ignore[no-any-return]


class _HasInnerGraph(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Op) and _core.inner_graph_of(instance) is not None


class HasInnerGraph(metaclass=_HasInnerGraph):
    """Abstract base class of ops with an inner graph: ``isinstance(node.op, HasInnerGraph)``."""


def io_connection_pattern(inputs: Sequence[Any], outputs: Sequence[Any]) -> list[list[bool]]:
    """For each input, which outputs have a derivative with respect to it that is not always zero: the connection_pattern of an op with these inputs and outputs.

    >>> x, y = pt.dscalars("x", "y")
    >>> io_connection_pattern([x, y], [x * 2, bt.gradient.disconnected_grad(x) + y])
    [[True, False], [False, True]]
    """
    order = io_toposort(inputs, outputs)
    pattern = []
    for each in inputs:
        reached = {each}
        for node in order:
            if reached.isdisjoint(node.inputs):
                continue
            connected = node.op.connection_pattern(node)
            for i, v in enumerate(node.inputs):
                if v in reached:
                    reached.update(out for k, out in enumerate(node.outputs) if connected[i][k])
        pattern.append([out in reached for out in outputs])
    return pattern


__getattr__ = absent(__name__)
