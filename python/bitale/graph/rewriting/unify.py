"""Patterns of nodes and ops: what matches them, and what is built from a match.

A pattern is written as a tuple of an op and of patterns of its inputs, in which texts are variables:
``(pt.log, (pt.true_div, "x", "y"))``. `convert_strs_to_vars` turns one into a tree of the classes of this module.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Number
from types import UnionType
from typing import Any

import numpy as np

from bitale import _core
from bitale.graph.basic import Constant, Variable
from bitale.graph.op import Op

__all__ = [
    "Asterisk",
    "ConstrainedVar",
    "LiteralString",
    "OpPattern",
    "PatternNode",
    "PatternVar",
    "convert_strs_to_vars",
    "match_pattern",
    "reify_pattern",
]


@dataclass(frozen=True)
class LiteralString:
    """A string that is matched literally, where other strings are names of variables.

    Parameters
    ----------
    value : str
        Text.
    """

    value: str


class PatternVar:
    """Variable of a pattern: it stands for anything, but for the same thing wherever it occurs.

    Parameters
    ----------
    token : str
        Name.
    constraint : callable, optional
        Whether it may stand for a value.
    """

    __slots__ = ("constraint", "token")

    def __init__(self, token: str, constraint: Callable[[Any], bool] | None = None) -> None:
        self.token = token
        self.constraint = constraint

    def __repr__(self) -> str:
        return f"PatternVar({self.token!r}{', constraint=...' if self.constraint else ''})"


class ConstrainedVar(PatternVar):
    """Variable of a pattern that stands for what satisfies a condition.

    Parameters
    ----------
    constraint : callable
        Whether it may stand for a value.
    token : str, optional
        Name.
    prefix : str
        Prefix of generated names.
    """

    __slots__ = ()

    def __init__(
        self, constraint: Callable[[Any], bool] | None, token: str | None = None, prefix: str = ""
    ) -> None:
        super().__init__(f"{prefix}_constrained" if token is None else token, constraint)


class Asterisk:
    """Variable of a pattern that stands for all inputs of a node from its place on; it comes last.

    Parameters
    ----------
    token : str
        Name.
    """

    __slots__ = ("token",)

    def __init__(self, token: str) -> None:
        self.token = token

    def __repr__(self) -> str:
        return f"Asterisk({self.token!r})"


class OpPattern:
    """Pattern of ops: those of a class, with some of their attributes.

    Parameters
    ----------
    op_type : type or tuple of type
        Class of the ops.
    parameters : dict or sequence of pairs, optional
        Attributes: values, or patterns of ops. In the pattern of a node, texts are variables.
    **kwargs : object
        The attributes, instead of `parameters`.

    Examples
    --------
    >>> from bitale.tensor.math import Sum
    >>> OpPattern(Sum, axis=None).match_op(pt.sum(pt.dvector("x")).owner.op)
    True
    """

    __slots__ = ("op_type", "parameters")

    def __init__(
        self,
        op_type: Any,
        parameters: Mapping[str, Any] | Sequence[tuple[str, Any]] | None = None,
        **kwargs: Any,
    ) -> None:
        if kwargs and parameters is not None:
            raise ValueError("OpPattern: attributes are given as parameters or by name, not both")
        self.op_type = op_type
        self.parameters = tuple(
            sorted(dict(parameters or kwargs).items(), key=lambda pair: pair[0])
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpPattern) and (self.op_type, self.parameters) == (
            other.op_type,
            other.parameters,
        )

    def __hash__(self) -> int:
        return hash((self.op_type, self.parameters))

    def __repr__(self) -> str:
        attributes = "".join(f", {key}={value!r}" for key, value in self.parameters)
        return f"OpPattern({getattr(self.op_type, '__name__', self.op_type)}{attributes})"

    def match_op(self, op: Op) -> bool:
        """Whether an op is of the class and has the attributes."""
        return isinstance(op, self.op_type) and self.match_parameters(op)

    def match_parameters(self, op: Op) -> bool:
        """Whether an op, which is of the class, has the attributes; those that are variables may be anything."""
        return next(_op_alternatives(self, op, {}), None) is not None


class PatternNode:
    """Pattern of a node: its op, and patterns of its inputs.

    Parameters
    ----------
    op_match : Op or OpPattern
        Op, function that stands for one, or pattern of ops.
    inputs : tuple
        Patterns of the inputs.
    """

    __slots__ = ("asterisk", "inputs", "op_match")

    def __init__(self, op_match: Any, inputs: tuple[Any, ...]) -> None:
        if any(isinstance(each, Asterisk) for each in inputs[:-1]):
            raise TypeError(f"PatternNode: an Asterisk comes last among the inputs, got {inputs}")
        self.op_match = op_match
        self.asterisk = inputs[-1] if inputs and isinstance(inputs[-1], Asterisk) else None
        self.inputs = tuple(inputs)

    def __repr__(self) -> str:
        return f"PatternNode({self.op_match!r}, {self.inputs!r})"


def _is_op(head: Any) -> bool:
    """Whether it is an op, or a function that stands for one."""
    return isinstance(head, Op) or (
        not isinstance(head, type) and hasattr(head, "__name__") and callable(head)
    )


class _Reader:
    """Turns a pattern that is written as tuples and texts into a tree."""

    def __init__(self, names: dict[str, PatternVar | Asterisk]) -> None:
        self.names = names

    def variable(self, token: str, kind: type = PatternVar) -> Any:
        known = self.names.get(token)
        if known is None:
            known = self.names[token] = kind(token)
        if isinstance(known, Asterisk) != (kind is Asterisk):
            raise TypeError(f"pattern: {token!r} stands for one variable and for several")
        return known

    def constrained(self, given: Mapping[str, Any]) -> PatternVar:
        token, constraint = given["pattern"], given["constraint"]
        if not isinstance(token, str):
            raise TypeError(f"pattern: only variables have constraints, got {token!r}")
        known: PatternVar = self.variable(token)
        if known.constraint is not None and known.constraint is not constraint:
            raise ValueError(f"pattern: two constraints of {token!r}")
        known.constraint = constraint
        return known

    def node(self, given: tuple[Any, ...]) -> PatternNode:
        head = given[0] if given else None
        if isinstance(head, OpPattern):
            head = self.read(head)
        elif not _is_op(head):
            raise TypeError(f"pattern: a tuple starts with an Op or OpPattern, got {head!r}")
        return PatternNode(head, tuple(self.read(each) for each in given[1:]))

    def read(self, given: Any, is_attribute: bool = False) -> Any:
        if isinstance(given, str):
            return self.variable(given)
        if isinstance(given, LiteralString):
            return given.value
        if isinstance(given, Asterisk):
            known = self.names.setdefault(given.token, given)
            return self.variable(given.token, Asterisk) if known is not given else given
        if isinstance(given, Mapping):
            return self.constrained(given)
        if isinstance(given, OpPattern):
            return OpPattern(
                given.op_type, [(key, self.read(each, True)) for key, each in given.parameters]
            )
        if isinstance(given, tuple) and not is_attribute:
            return self.node(given)
        if isinstance(given, (Number, np.ndarray)) and not is_attribute:
            return _core.as_tensor_variable(given)  # type: ignore[arg-type]
        return given


def convert_strs_to_vars(
    x: Any, var_map: dict[str, PatternVar | Asterisk] | None = None
) -> PatternNode | Any:
    """Turn a pattern that is written as tuples and texts into a tree.

    Parameters
    ----------
    x : tuple, str, dict or OpPattern
        Pattern. A dict ``{"pattern": name, "constraint": condition}`` is a
        variable with a condition.
    var_map : dict, optional
        Variables by name, to which new ones are added.

    Returns
    -------
    PatternNode, PatternVar, OpPattern or object
        Tree.
    """
    return _Reader({} if var_map is None else var_map).read(x)


# ---- matching ------------------------------------------------------------------------------------------------------
# A goal is a pair of a pattern and a value. The alternatives of a goal are the ways to satisfy it: further goals, and what
# variables stand for then.

_Bound = dict[Any, Any]
_Alternatives = Iterator[tuple[list[tuple[Any, Any]], _Bound]]
_nothing = object()


def _is_same(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_is_same, a, b))
    if isinstance(a, Constant) and isinstance(b, Constant):
        return bool(np.array_equiv(a.data, b.data))
    if isinstance(a, Variable) or isinstance(b, Variable):
        return a is b
    return bool(a == b)


def _bound(variable: Any, value: Any, known: _Bound) -> Iterator[_Bound]:
    before = known.get(variable, _nothing)
    if before is not _nothing:
        if _is_same(before, value):
            yield known
        return
    constraint = getattr(variable, "constraint", None)
    if constraint is None or constraint(value):
        yield {**known, variable: value}


def _op_alternatives(pattern: OpPattern, op: Any, known: _Bound) -> Iterator[_Bound]:
    """What variables stand for, where an op of the pattern's class has its attributes."""
    for key, wanted in pattern.parameters:
        value = getattr(op, key)
        if isinstance(wanted, PatternVar):
            found = next(_bound(wanted, value, known), None)
        elif isinstance(wanted, OpPattern):
            is_one = isinstance(value, wanted.op_type)
            found = next(_op_alternatives(wanted, value, known), None) if is_one else None
        else:
            plain = wanted.value if isinstance(wanted, LiteralString) else wanted
            found = known if _is_same(value, plain) else None
        if found is None:
            return
        known = found
    yield known


def _arrangements(pattern: PatternNode, inputs: Sequence[Any], op: Any) -> Iterator[list[Any]]:
    """The orders in which inputs may stand for the node's patterns: as they are, then those that the op allows."""
    yield list(inputs)
    if len(pattern.inputs) < 2 or not (
        getattr(op, "commutative", False) or _core.is_commutative(op)
    ):
        return
    fixed = len(pattern.inputs) - (pattern.asterisk is not None)
    for chosen in itertools.permutations(range(len(inputs)), fixed):
        if chosen != tuple(range(fixed)):
            rest = [each for at, each in enumerate(inputs) if at not in chosen]
            yield [*(inputs[at] for at in chosen), *rest]


def _alternatives(pattern: Any, value: Any, known: _Bound) -> _Alternatives:
    if isinstance(pattern, (PatternVar, Asterisk)):
        for found in _bound(pattern, value, known):
            yield [], found
    elif isinstance(pattern, PatternNode):
        node = value.owner if isinstance(value, Variable) else None
        if node is not None:
            yield from _node_alternatives(pattern, node, known)
    elif isinstance(pattern, Variable) or not isinstance(value, Constant):
        if _is_same(pattern, value):
            yield [], known
    elif np.array_equiv(pattern, value.data):
        yield [], known


def _node_alternatives(pattern: PatternNode, node: Any, known: _Bound) -> _Alternatives:
    if isinstance(pattern.op_match, OpPattern):
        if not isinstance(node.op, pattern.op_match.op_type):
            return
        found = next(_op_alternatives(pattern.op_match, node.op, known), None)
        if found is None:
            return
        known = found
    elif not node.op == pattern.op_match:
        return
    fixed = pattern.inputs[: -1 if pattern.asterisk is not None else None]
    if len(node.inputs) < len(fixed) or (
        pattern.asterisk is None and len(node.inputs) != len(fixed)
    ):
        return
    for inputs in _arrangements(pattern, node.inputs, node.op):
        goals = list(zip(fixed, inputs))
        if pattern.asterisk is not None:
            goals.append((pattern.asterisk, tuple(inputs[len(fixed) :])))
        yield goals, known


def match_pattern(
    pattern: PatternNode, node: Any, subs: Mapping[Any, Any] | None = None
) -> dict[Any, Any] | None:
    """Find what the variables of a pattern stand for in a node.

    Inputs of commutative ops are tried in every order.

    Parameters
    ----------
    pattern : PatternNode
        Pattern, as `convert_strs_to_vars` gives it.
    node : Apply
        Node.
    subs : dict, optional
        What some variables are known to stand for.

    Returns
    -------
    dict or None
        Values by variable; None if the node does not match.
    """
    # Each entry: alternatives that are not yet tried, and the goals that remain after any of them.
    waiting = [(_node_alternatives(pattern, node, dict(subs or {})), ())]
    while waiting:
        alternatives, rest = waiting[-1]
        found = next(alternatives, None)
        if found is None:
            waiting.pop()
            continue
        goals: tuple[Any, ...] = (*found[0], *rest)
        if not goals:
            return found[1]
        (wanted, value), *others = goals
        waiting.append((_alternatives(wanted, value, found[1]), tuple(others)))
    return None


def _value_of(variable: PatternVar | Asterisk, subs: Mapping[Any, Any]) -> Any:
    if variable not in subs:
        raise ValueError(f"pattern: {variable.token!r} occurs in the result only")
    return subs[variable]


def reify_pattern(pattern: Any, subs: Mapping[Any, Any]) -> Any:
    """Build what a pattern describes.

    Parameters
    ----------
    pattern : PatternNode, PatternVar, OpPattern or object
        Pattern.
    subs : dict
        What its variables stand for.

    Returns
    -------
    Variable or Op
        What is built.

    Raises
    ------
    ValueError
        For a variable that stands for nothing.
    """
    if isinstance(pattern, (PatternVar, Asterisk)):
        return _value_of(pattern, subs)
    if isinstance(pattern, OpPattern):
        if not isinstance(pattern.op_type, type) or isinstance(pattern.op_type, UnionType):
            raise ValueError(f"pattern: an op is made of one class, not of {pattern.op_type!r}")
        return pattern.op_type(
            **{key: reify_pattern(each, subs) for key, each in pattern.parameters}
        )
    if not isinstance(pattern, PatternNode):
        return pattern
    inputs: list[Any] = []
    for each in pattern.inputs:
        value = reify_pattern(each, subs)
        inputs += value if isinstance(each, Asterisk) else [value]
    op = pattern.op_match
    return (reify_pattern(op, subs) if isinstance(op, OpPattern) else op)(*inputs)
