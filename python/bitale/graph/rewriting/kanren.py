"""Unification and relations of expressions, with the packages logical-unification, miniKanren, etuples and cons.

Importing this module tells these packages how expressions, ops and types are made of parts. An expression is an op and its
inputs: ``etuple(pt.add, x, y)`` unifies with ``x + y``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

try:
    import cons.core
    import etuples
    import kanren
    import unification.core
    import unification.utils
    import unification.variable
    from etuples.core import ExpressionTuple
except ImportError as error:
    raise ImportError(
        "bitale.graph.rewriting.kanren needs packages that are not installed: "
        "pip install logical-unification miniKanren etuples cons"
    ) from error

import numpy as np

from bitale.graph.basic import Apply, Constant, Variable
from bitale.graph.fg import FunctionGraph
from bitale.graph.op import Op
from bitale.graph.rewriting.basic import NodeRewriter
from bitale.graph.rewriting.unify import ConstrainedVar, OpPattern, PatternVar
from bitale.graph.type import Type

__all__ = ["KanrenRelationSub", "eval_if_etuple"]

_unify = unification.core._unify
_isvar, _Var = unification.variable.isvar, unification.variable.Var
_Var.register(PatternVar)


def eval_if_etuple(x: Any) -> Any:
    """Evaluate an expression tuple; other values are returned as they are.

    Parameters
    ----------
    x : object
        Value.

    Returns
    -------
    object
        Value.
    """
    return x.evaled_obj if isinstance(x, ExpressionTuple) else x


# ---- parts of expressions: an op and inputs; of ops and types: a class and attributes ------------------------------------


def _parts(x: Any) -> tuple[Any, list[Any]]:
    if isinstance(x, Variable):
        if x.owner is None:
            raise cons.core.ConsError("a variable that is not computed has no parts")
        return x.owner.op, list(x.owner.inputs)
    attributes = getattr(x, "__props__", None)
    if attributes is None:
        raise cons.core.ConsError("an op without __props__ has no parts")
    # Ops of the library have their attributes as pairs of a name and a value, others list names only.
    return type(x), [getattr(x, each if isinstance(each, str) else each[0]) for each in attributes]


def _head(x: Any) -> Any:
    return _parts(x)[0]


def _tail(x: Any) -> Any:
    head, others = _parts(x)
    return etuples.etuple(head, *others, evaled_obj=x)[1:]


for _class in (Variable, Op, Type):
    cons.core._car.add((_class,), _head)
    cons.core._cdr.add((_class,), _tail)
del _class


def _applied(op: Op, inputs: ExpressionTuple) -> Any:
    return op(*map(eval_if_etuple, inputs))


etuples.apply.add((Op, ExpressionTuple), _applied)


# ---- unification -----------------------------------------------------------------------------------------------------


def _as_tuple(x: Any) -> Any:
    head, others = _parts(x)
    return etuples.etuple(head, *others, evaled_obj=x)


def _is_compound(x: Any) -> bool:
    return not isinstance(x, Variable) or x.owner is not None


def _with_tuple(x: Any, expression: Any, known: Mapping[Any, Any]) -> Iterator[Any]:
    try:
        parts = _as_tuple(x) if _is_compound(x) else None
    except cons.core.ConsError:
        parts = None
    if parts is None:
        yield False
    else:
        yield _unify(parts, expression, known)


def _two_variables(a: Variable, b: Variable, known: Mapping[Any, Any]) -> Iterator[Any]:
    if a is b:
        yield known
    elif _is_compound(a) and _is_compound(b):
        yield _unify(_as_tuple(a), _as_tuple(b), known)
    else:
        yield False


def _two_constants(a: Constant, b: Constant, known: Mapping[Any, Any]) -> Iterator[Any]:
    yield known if np.array_equiv(a.data, b.data) else False


def _constrained(a: Any, b: Any, known: Mapping[Any, Any]) -> Iterator[Any]:
    a = unification.utils.transitive_get(a, known)
    b = unification.utils.transitive_get(b, known) if _isvar(b) else b
    if not _isvar(a):
        a, b = b, a
    if a is b or (_isvar(a) and _isvar(b) and a == b):
        yield known
    elif not _isvar(a):
        yield _unify(a, b, known)
    else:
        constraint = getattr(a, "constraint", None)
        fits = _isvar(b) or constraint is None or constraint(eval_if_etuple(b))
        yield unification.core.assoc(known, a, b) if fits else False


def _op_with_pattern(op: Op, pattern: OpPattern, known: Any) -> Iterator[Any]:
    if isinstance(op, pattern.op_type):
        for name, wanted in pattern.parameters:
            if known is not False:
                known = yield _unify(getattr(op, name), wanted, known)
        yield known
    else:
        yield False


def _swapped(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, b, known: function(b, a, known)


for _class in (Op, Type, Variable):
    _unify.add((_class, ExpressionTuple, Mapping), _with_tuple)
    _unify.add((ExpressionTuple, _class, Mapping), _swapped(_with_tuple))
del _class
_unify.add((Variable, Variable, Mapping), _two_variables)
_unify.add((Constant, Constant, Mapping), _two_constants)
_unify.add((ConstrainedVar, (ConstrainedVar, _Var, object), Mapping), _constrained)
_unify.add((object, ConstrainedVar, Mapping), _swapped(_constrained))
_unify.add((Op, OpPattern, Mapping), _op_with_pattern)


class KanrenRelationSub(NodeRewriter):
    """Replaces an expression by the first one that stands in a relation to it.

    Parameters
    ----------
    kanren_relation : callable
        Function of an expression and a logic variable, which returns a goal of
        kanren.
    results_filter : callable, optional
        Chooses one of the results, an iterator; by default the first.
    node_filter : callable
        Whether to try a node.
    """

    reentrant = True

    def __init__(
        self,
        kanren_relation: Callable[[Any, Any], Any],
        results_filter: Callable[[Iterator[Any]], Any] | None = None,
        node_filter: Callable[[Apply], bool] = lambda node: True,
    ) -> None:
        self.kanren_relation = kanren_relation
        self.results_filter = results_filter or (lambda results: next(results, None))
        self.node_filter = node_filter

    def transform(self, fgraph: FunctionGraph, node: Apply, enforce_tracks: bool = True) -> Any:
        """The chosen result."""
        if self.node_filter(node) is False:
            return False
        expression = node.outputs[0] if len(node.outputs) == 1 else list(node.outputs)
        found = unification.variable.var()
        results = kanren.run(None, found, self.kanren_relation(expression, found))
        chosen = self.results_filter(iter(results))
        if not isinstance(chosen, (list, tuple, ExpressionTuple)) and chosen is None:
            return False
        if isinstance(chosen, list):
            return [eval_if_etuple(each) for each in chosen]
        return [eval_if_etuple(chosen)]
