"""Default updates of shared variables: what functions update them with, unless they are told otherwise.

The default update of a generator is its state after a draw. A graph in which something was replaced (clone_replace,
vectorize_graph, givens) has another draw from the same generator in place of that one: then the state after that draw is
the update, since the original may need inputs that the function does not have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bitale import _core
from bitale._core import Apply, RandomGeneratorVariable, Variable


def with_default_updates(outputs: list[Any], updates: list[tuple[Any, Any]], left_out: Any) -> list[tuple[Any, Any]]:
    """The updates, with the default updates of the shared variables that anything depends on and that have none.

    left_out: True for none of them, or a list of variables whose default updates are left out.
    """
    if left_out is True:
        return updates
    skipped = set(left_out or ())
    for one in skipped:
        if not _core.is_shared(one):
            raise TypeError(f"function: no_default_updates: expected shared variables, got {one!r}")
    out = list(updates)
    done = {variable for variable, _ in out} | skipped
    waiting = roots = [one for one in (*outputs, *(after for _, after in out)) if isinstance(one, Variable)]
    while waiting:
        found = [leaf for leaf in _core.graph_inputs(waiting) if leaf not in done and _core.is_shared(leaf)]
        waiting = []
        for leaf in found:
            if leaf in done:
                continue
            done.add(leaf)
            after = default_update_in(roots, leaf)
            if after is not None:
                out.append((leaf, after))
                waiting.append(after)
        roots = [*roots, *waiting]
    return out


def default_update_in(roots: list[Variable], leaf: Any) -> Any:
    """The default update of the leaf in a function that computes the roots; None: it has none."""
    after = leaf.default_update
    states = _states_between(leaf, after)
    if not states:
        return after
    nodes = _core.toposort(roots)
    if after.owner in set(nodes):
        return after
    known = {leaf}
    for state in states:
        made = [found for node in nodes if (found := _counterpart(state, node)) is not None]
        copies = [one for one in made if _state_before(one) in known]
        if not copies:
            break
        known, after = set(copies), copies[0]
    return after


def _states_between(leaf: Any, after: Variable | None) -> list[RandomGeneratorVariable]:
    """The states that draws make of a generator, one after another, up to `after`; none if there is no such chain."""
    states: list[RandomGeneratorVariable] = []
    while isinstance(after, RandomGeneratorVariable) and after is not leaf:
        states.append(after)
        after = _state_before(after)
    return states[::-1] if after is leaf else []


def _state_before(state: Variable) -> Variable | None:
    """The state from which the node draws that makes this one. A node with several (a loop) has as many new ones, in order."""
    if state.owner is None:
        return None
    before, after = (_generators(state.owner.inputs), _generators(state.owner.outputs))
    return before[after.index(state)] if len(before) == len(after) else None


def _generators(variables: Sequence[Variable]) -> list[Variable]:
    return [one for one in variables if isinstance(one, RandomGeneratorVariable)]


def _counterpart(state: Variable, node: Apply) -> Variable | None:
    """The output of the node that is what the state is of its own one, if the nodes are alike."""
    own = state.owner
    if own is None or state.index is None or own.op.name != node.op.name or len(own.outputs) != len(node.outputs):
        return None
    return node.outputs[state.index]
