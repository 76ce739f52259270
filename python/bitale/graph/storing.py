"""Graphs as pickle stores them.

Pickle calls itself for what an object refers to, which no long chain of nodes would survive. So the nodes that a variable
depends on are stored as one table: a list in which each node comes after its inputs and names them by number. Within one
pickle a node is stored once, whatever refers to it: what is already in a table that pickle still holds is stored as a number
in that table.
"""

from __future__ import annotations

import copy
import importlib
import pickle
import threading
import weakref
from typing import Any

import numpy as np

from bitale import _core
from bitale._core import Apply, TensorConstant, TensorSharedVariable, TensorVariable, Variable


# What pickles of graphs are written in. 1, of Bitale 0.1, had no number, and numbers for the kinds of attributes. A pickle of
# a later format is refused; earlier ones are read.
_FORMAT = 2


class _Table:
    """Nodes in the order of their dependence, and the index of each."""

    def __init__(self, nodes: list[Apply]):
        self.nodes = nodes
        self.numbers = {node: number for number, node in enumerate(nodes)}

    def __reduce__(self) -> tuple[Any, ...]:
        leaves: dict[Variable, int] = {}
        ops: dict[Any, int] = {}
        kinds: list[int] = []
        inputs: list[Any] = []
        names: dict[tuple[int, int], str] = {}
        for number, node in enumerate(self.nodes):
            if node.op not in ops:
                _require_stored(node)
            kinds.append(ops.setdefault(node.op, len(ops)))
            for variable in node.inputs:
                at = None if variable.owner is None else self.numbers.get(variable.owner)
                inputs.append(
                    (at, variable.index)
                    if at is not None
                    else leaves.setdefault(variable, len(leaves))
                )
            inputs.append(None)
            names.update(
                {(number, i): output.name for i, output in enumerate(node.outputs) if output.name}
            )
        return _table, (list(leaves), list(ops), kinds, inputs, names, _FORMAT)


def _require_stored(node: Apply) -> None:
    """TypeError that names the node and its line, where pickle would only name what it can't store of the node's op."""
    try:
        node.op.__reduce__()
    except TypeError as error:
        where = f"\n  built at {node.where}" if node.where else ""
        raise TypeError(f"{error}\n  node     {node}{where}") from error


def _table(
    leaves: list[Variable],
    ops: list[Any],
    kinds: list[int],
    inputs: list[Any],
    names: dict[tuple[int, int], str],
    written: int = 1,
) -> _Table:
    if written > _FORMAT:
        raise ValueError(
            f"this pickle has format {written}, of a later version of Bitale; this one ({_core.version()}) reads up to {_FORMAT}"
        )
    nodes: list[Apply] = []
    given = iter(inputs)
    for kind in kinds:
        arguments = []
        for item in iter(given.__next__, None):
            arguments.append(
                leaves[item] if isinstance(item, int) else nodes[item[0]].outputs[item[1]]
            )
        nodes.append(ops[kind].make_node(*arguments))
    for (number, index), name in names.items():
        nodes[number].outputs[index].name = name
    return _Table(nodes)


_lock = threading.Lock()
# The table that contains a node, by the identity of the node, for tables that some pickle holds: they keep their nodes
# alive.
_held: weakref.WeakValueDictionary[int, _Table] = weakref.WeakValueDictionary()


def _new_nodes(node: Apply) -> list[Apply]:
    """The node and those it depends on, inputs first, as far as no table has them."""
    done: dict[Apply, None] = {}
    waiting = [node]
    while waiting:
        one = waiting[-1]
        owners = (variable.owner for variable in one.inputs) if one not in done else ()
        before = [
            owner
            for owner in owners
            if owner is not None and owner not in done and id(owner) not in _held
        ]
        waiting.extend(before)
        if not before:
            done[waiting.pop()] = None
    return list(done)


def _number_of(node: Apply) -> tuple[_Table, int]:
    with _lock:
        table = _held.get(id(node))
        if table is None:
            table = _Table(_new_nodes(node))
            for one in table.nodes:
                _held[id(one)] = table
    return table, table.numbers[node]


def _node(table: _Table, number: int) -> Apply:
    return table.nodes[number]


def _output(table: _Table, number: int, index: int) -> Variable:
    return table.nodes[number].outputs[index]


def _constant(value: Any, name: str | None) -> Variable:
    return _core.constant(value, name=name)


def _constant_of(kind: _core.Type, value: Any, name: str | None) -> Variable:
    return kind.make_constant(value, name)


def _shared_of(kind: _core.Type, value: Any, name: str | None) -> Any:
    return _core.make_shared_of(kind, value, name, True)


def _shared(value: Any, name: str | None, shape: Any) -> Variable:
    return _core.make_shared(value, name, True, shape)


def _leaf(kind: _core.Type, name: str | None) -> Variable:
    return kind.make_variable(name)


def _op(name: str, attributes: Any) -> Any:
    return _core.op_of_stored(name, attributes)


def reduce_apply(node: Apply) -> tuple[Any, ...]:
    return _node, _number_of(node)


def reduce_variable(variable: Variable) -> tuple[Any, ...]:
    if variable.owner is not None:
        return _output, (*_number_of(variable.owner), variable.index)
    if isinstance(variable, TensorConstant):
        return _constant, (variable.data, variable.name)
    if isinstance(variable, TensorSharedVariable):
        return _shared, (variable.get_value(borrow=True), variable.name, variable.type.shape)
    if isinstance(variable, TensorVariable):
        return _leaf, (variable.type, variable.name)
    if _core.is_shared(variable):
        return _shared_of, (variable.type, _core.shared_value(variable, True), variable.name)
    if _core.is_constant(variable):
        return _constant_of, (variable.type, _core.constant_value(variable), variable.name)
    return _leaf, (variable.type, variable.name)


def reduce_type(kind: Any) -> tuple[Any, ...]:
    """A type that is written in Python."""
    return reduce_python_op(kind)


def reduce_op(op: Any) -> tuple[Any, ...]:
    return _op, _core.stored_op(op)


# ---- ops written in Python ----------------------------------------------------------------------------------------------


def _state(op: Any) -> Any:
    get = getattr(type(op), "__getstate__", None)
    if get is not None and get is not getattr(object, "__getstate__", None):
        return get(op)
    return dict(op.__dict__) if getattr(op, "__dict__", None) else None


def _restore(op: Any, state: Any) -> Any:
    if state is None:
        return op
    if hasattr(op, "__setstate__"):
        op.__setstate__(state)
    else:
        op.__dict__.update(state)
    return op


def _new(cls: Any) -> Any:
    return cls.__new__(cls)


def _is_importable(cls: type) -> bool:
    try:
        found: Any = importlib.import_module(cls.__module__)
        for part in cls.__qualname__.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return False
    return found is cls


# Values that pickle stores itself, or whose own reduce methods it calls.
_STORED = (
    type(None),
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    np.ndarray,
    np.generic,
    Apply,
    Variable,
    _core.Type,
)


def _try_to_store(value: Any) -> None:
    """Raises what pickle would raise, for values that may not be stored."""
    if isinstance(value, (tuple, list)) and len(value) < 100:
        for each in value:
            _try_to_store(each)
    elif not isinstance(value, _STORED) or (
        isinstance(value, np.ndarray) and value.dtype.hasobject
    ):
        pickle.dumps(value)


def reduce_python_op(op: Any) -> tuple[Any, ...]:
    """The class, by its name, and what the object holds."""
    cls, what = type(op), "type" if isinstance(op, _core.Type) else "op"
    if not _is_importable(cls):
        raise TypeError(
            f"pickling the {what} {op}: its class {cls.__module__}.{cls.__qualname__} can't be imported by that name; define "
            "the class at the top level of a module"
        )
    state = _state(op)
    for name, value in state.items() if isinstance(state, dict) else [("__getstate__", state)]:
        try:
            _try_to_store(value)
        except Exception as error:
            raise TypeError(
                f"pickling the {what} {op}: its `{name}` can't be stored: {error}; a class may define __getstate__ and __setstate__"
            ) from error
    return (_new, (cls,)) if state is None else (_new, (cls,), state)


def copy_op(op: Any) -> Any:
    return _restore(_new(type(op)), _state(op))


def deepcopy_op(op: Any, memo: dict[int, Any]) -> Any:
    new = memo[id(op)] = _new(type(op))
    return _restore(new, copy.deepcopy(_state(op), memo))
