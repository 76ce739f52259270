"""Copies of graphs in which shared variables are collected and replacements made, as PyTensor's function() begins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bitale._geography import absent
from bitale import _core
from bitale._core import UnusedInputError
from bitale.compile.io import In, Out
from bitale.compile.sharedvalue import SharedVariable
from bitale.graph.basic import clone_get_equiv
from bitale.graph.traversal import graph_inputs

__all__ = ["UnusedInputError", "rebuild_collect_shared"]


def _pairs(given: Any) -> list[tuple[Any, Any]]:
    return list(given.items() if isinstance(given, Mapping) else given or ())


def _fitting(variable: Any, value: Any) -> Any:
    """The value as a variable of the variable's type. TypeError."""
    return variable.type.filter_variable(value)


def rebuild_collect_shared(
    outputs: Any,
    inputs: Iterable[Any] | None = None,
    replace: Any = None,
    updates: Any = None,
    rebuild_strict: bool = True,
    copy_inputs_over: bool = True,
    no_default_updates: bool | list[Any] = False,
    clone_inner_graphs: bool = False,
) -> tuple[list[Any], Any, list[Any]]:
    """A copy of outputs with the replacements made: its inputs, its outputs, and [the replacements, the updates, the same as a
    dict from shared variables to new values, the shared variables].

    outputs: a variable, an Out, a list or dict of them, or None; the copy has the same form. replace, updates: pairs. copy_inputs_over: the copy is over the same inputs, not copies of them. no_default_updates: True, or
    the shared variables whose default update does not count. rebuild_strict, clone_inner_graphs: accepted; types always have to fit, and graphs within
    ops never change. ValueError for a variable that is updated twice; TypeError for an update of another type.

    >>> from bitale.compile.rebuild import rebuild_collect_shared
    >>> x, s = pt.dscalar("x"), bt.shared(2.0, "s")
    >>> inputs, out, (_, updates, _, shared) = rebuild_collect_shared(x * s, [x], updates=[(s, s + x)])
    >>> inputs, out.eval({x: 3.0}), list(updates), shared
    ([x], array(6.), [s], [s])
    """
    wrapped = (
        list(outputs.values())
        if isinstance(outputs, dict)
        else list(outputs)
        if isinstance(outputs, (list, tuple))
        else [outputs]
    )
    expressions = [
        each.variable if isinstance(each, Out) else each for each in wrapped if each is not None
    ]
    given = [each.variable if isinstance(each, In) else each for each in inputs or ()]
    changes: dict[Any, Any] = {}
    for variable, value in _pairs(updates):
        if not isinstance(variable, SharedVariable):
            raise TypeError(
                f"rebuild_collect_shared: expected shared variables in updates, got {variable!r}"
            )
        if variable in changes:
            raise ValueError(f"rebuild_collect_shared: {variable} is updated twice")
        changes[variable] = _fitting(variable, value)
    replacements = {before: _fitting(before, after) for before, after in _pairs(replace)}

    def made(roots: list[Any]) -> list[Any]:
        return (
            list(_core.clone_replace(roots, replacements))
            if replacements and roots
            else list(roots)
        )

    results = made(expressions)
    roots = [*expressions, *changes.values(), *replacements.values()]
    new_values = dict(zip(changes, made(list(changes.values()))))
    shared: dict[Any, None] = {}
    skipped = no_default_updates if isinstance(no_default_updates, list) else []
    waiting = [*results, *new_values.values(), *new_values]
    while waiting:
        for leaf in graph_inputs([waiting.pop()]):
            if not isinstance(leaf, SharedVariable) or leaf in shared:
                continue
            shared[leaf] = None
            default = _core.default_update_in(roots, leaf)
            if (
                default is not None
                and leaf not in new_values
                and no_default_updates is not True
                and leaf not in skipped
            ):
                (new_values[leaf],) = made([_fitting(leaf, default)])
                waiting.append(new_values[leaf])
    of: dict[Any, Any] = {}
    clone_get_equiv(given, [*results, *new_values.values()], not copy_inputs_over, False, of)
    copies = iter([of[each] for each in results])

    def copied(each: Any) -> Any:
        return (
            None
            if each is None
            else Out(next(copies), each.borrow)
            if isinstance(each, Out)
            else next(copies)
        )

    again = [copied(each) for each in wrapped]
    out: Any = (
        dict(zip(outputs, again))
        if isinstance(outputs, dict)
        else again
        if isinstance(outputs, (list, tuple))
        else again[0]
    )
    changed = {variable: of[value] for variable, value in new_values.items()}
    return [of.get(v, v) for v in given], out, [of, changed, dict(changed), list(shared)]


__getattr__ = absent(__name__)
