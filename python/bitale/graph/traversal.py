"""Walks over graphs. Names and arguments are those of pytensor.graph.traversal; walks use their own stack, so graphs may be arbitrarily deep."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar, Union, overload

from bitale import _core
from bitale._core import (
    Apply,
    Constant,
    Op,
    Variable,
    ancestors,
    explicit_graph_inputs,
    graph_inputs,
    node_count,
    toposort,
    variable_depends_on,
)

__all__ = [
    "ancestors",
    "apply_ancestors",
    "apply_depends_on",
    "applys_between",
    "explicit_graph_inputs",
    "general_toposort",
    "get_var_by_name",
    "graph_inputs",
    "io_toposort",
    "node_count",
    "orphans_between",
    "toposort",
    "toposort_with_orderings",
    "truncated_graph_inputs",
    "variable_ancestors",
    "variable_depends_on",
    "vars_between",
    "walk",
    "walk_toposort",
]

variable_ancestors = ancestors

Graphs = Union[Variable, Iterable[Variable]]
Node = TypeVar("Node", bound=Hashable)


@overload
def walk(
    nodes: Iterable[Node],
    expand: Callable[[Node], Iterable[Node] | None],
    bfs: bool = True,
    return_children: Literal[False] = False,
) -> Iterator[Node]: ...


@overload
def walk(
    nodes: Iterable[Node],
    expand: Callable[[Node], Iterable[Node] | None],
    bfs: bool = True,
    *,
    return_children: Literal[True],
) -> Iterator[tuple[Node, list[Node]]]: ...


def walk(
    nodes: Iterable[Any],
    expand: Callable[[Any], Iterable[Any] | None],
    bfs: bool = True,
    return_children: bool = False,
) -> Iterator[Any]:
    """Everything that is reached from nodes by expand, each once: breadth first if bfs, else depth first.

    expand returns the successors of a node; None or nothing where the walk ends. return_children:
    yields pairs of a node and its successors.

    >>> x = pt.dscalar("x")
    >>> list(walk([pt.exp(x) ** 2], lambda v: v.owner and v.owner.inputs[:1]))
    [Pow.0, Exp.0, x]
    """
    waiting = deque(nodes)
    seen = set()
    while waiting:
        node = waiting.popleft() if bfs else waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        found = expand(node)
        if found is not None:
            found = list(found)
            waiting.extend(found)
        yield (node, found) if return_children else node


def walk_toposort(
    graphs: Iterable[Node], deps: Callable[[Node], Iterable[Node] | None]
) -> Iterator[Node]:
    """Everything that is reached from graphs by deps, each after its dependencies. ValueError where they form a cycle."""
    done: set[Node] = set()
    open_: set[Node] = set()
    for root in graphs:
        stack = [(root, False)]
        while stack:
            node, is_expanded = stack.pop()
            if is_expanded:
                open_.discard(node)
                done.add(node)
                yield node
                continue
            if node in done:
                continue
            if node in open_:
                raise ValueError(f"walk_toposort: {node} depends on itself")
            open_.add(node)
            stack.append((node, True))
            for each in reversed(list(deps(node) or ())):
                if each in open_:
                    raise ValueError(f"walk_toposort: {each} depends on itself")
                if each not in done:
                    stack.append((each, False))


def general_toposort(
    outputs: Iterable[Any],
    deps: Callable[[Any], Iterable[Any] | None] | None,
    compute_deps_cache: Callable[[Any], Iterable[Any] | None] | None = None,
    deps_cache: dict[Any, list[Any]] | None = None,
    clients: dict[Any, list[Any]] | None = None,
) -> list[Any]:
    """Everything on which outputs depend by deps, as a list in which each entry comes after its dependencies.

    compute_deps_cache: called instead of deps. deps_cache: filled with the dependencies. clients:
    filled with the dependents of each. ValueError if neither function is given, and for cycles.
    """
    asked = compute_deps_cache or deps
    if asked is None:
        raise ValueError("general_toposort: expected deps or compute_deps_cache; both are None")

    def found(node: Any) -> list[Any]:
        each = list(asked(node) or ())
        if deps_cache is not None:
            deps_cache[node] = each
        if clients is not None:
            for one in each:
                clients.setdefault(one, []).append(node)
        return each

    return list(walk_toposort(outputs, found))


def _variables(given: Graphs) -> list[Variable]:
    return [given] if isinstance(given, Variable) else list(given)


def apply_ancestors(graphs: Graphs, blockers: Graphs | None = None) -> Iterator[Apply]:
    """The Apply nodes that the graphs depend on, last ones first; those of blockers and all above them are left out."""
    stopped = set(_variables(blockers)) if blockers is not None else set()
    roots = [v.owner for v in _variables(graphs) if v.owner is not None and v not in stopped]
    return walk(
        roots,
        lambda node: [v.owner for v in node.inputs if v.owner is not None and v not in stopped],
        False,
    )


def apply_depends_on(apply: Apply, depends_on: Apply | Iterable[Apply]) -> bool:
    """Whether an Apply node is one of the others, or depends on one."""
    others = {depends_on} if isinstance(depends_on, Apply) else set(depends_on)
    return any(node in others for node in apply_ancestors(apply.outputs))


def vars_between(ins: Graphs, outs: Graphs) -> Iterator[Variable]:
    """The variables that outs depend on, down to ins; both are included."""
    stopped = set(_variables(ins))

    def expand(v: Variable) -> Iterable[Variable] | None:
        return (
            None
            if v in stopped or v.owner is None
            else itertools.chain(reversed(v.owner.inputs), v.owner.outputs)
        )

    return walk([*reversed(_variables(outs)), *stopped], expand, False)


def orphans_between(ins: Graphs, outs: Graphs) -> Iterator[Variable]:
    """The leaves that outs depend on besides ins: constants, shared variables, and inputs that were forgotten."""
    given = set(_variables(ins))
    return (v for v in vars_between(given, outs) if v.owner is None and v not in given)


def applys_between(ins: Graphs, outs: Graphs) -> Iterator[Apply]:
    """The Apply nodes that compute outs from ins."""
    given = set(_variables(ins))
    seen = set()
    for v in vars_between(given, outs):
        if v not in given and v.owner is not None and v.owner not in seen:
            seen.add(v.owner)
            yield v.owner


def truncated_graph_inputs(
    outputs: Graphs, ancestors_to_include: Graphs | None = None
) -> list[Variable]:
    """The variables nearest to outputs from which these can be computed and that depend on none of ancestors_to_include; and those of ancestors_to_include on which outputs depend.

    >>> x, y = pt.dscalars("x", "y")
    >>> truncated_graph_inputs([pt.exp(x) * pt.exp(y)], [x])
    [Exp.0, x]
    """
    wanted = set(_variables(ancestors_to_include)) if ancestors_to_include is not None else set()
    roots = _variables(outputs)
    above: set[Variable] = (
        set()
    )  # variables that depend on an ancestor to include other than themselves
    for node in toposort(roots):
        if any(v in wanted or v in above for v in node.inputs):
            above.update(node.outputs)
    found = walk(
        reversed(roots),
        lambda v: v.owner.inputs if v.owner is not None and v in above else None,
        False,
    )
    return [v for v in found if v in wanted or v not in above]


def toposort_with_orderings(
    graphs: Graphs,
    blockers: Graphs | None = None,
    orderings: Mapping[Apply, Iterable[Apply]] | None = None,
) -> list[Apply]:
    """As `toposort`; orderings says which nodes must come before a node besides those it depends on. ValueError for cycles."""
    stopped = set(_variables(blockers)) if blockers is not None else set()
    before = orderings or {}

    def deps(node: Apply) -> list[Apply]:
        return [v.owner for v in node.inputs if v.owner is not None and v not in stopped] + list(
            before.get(node, ())
        )

    return list(
        walk_toposort(
            [v.owner for v in _variables(graphs) if v.owner is not None and v not in stopped], deps
        )
    )


def io_toposort(
    inputs: Graphs,
    outputs: Sequence[Variable],
    orderings: Mapping[Apply, Iterable[Apply]] | None = None,
    clients: dict[Variable, list[Variable]] | None = None,
) -> list[Apply]:
    """The nodes that compute outputs from inputs, each after those it depends on.

    clients: filled with the outputs of the nodes that read each variable.
    """
    order = toposort_with_orderings(outputs, inputs, orderings)
    if clients is not None:
        for node in order:
            for v in node.inputs:
                clients.setdefault(v, []).extend(node.outputs)
    return order


def inner_outputs(op: Op) -> list[Variable]:
    """The outputs of the inner graph of an op; none if it has no inner graph."""
    inner = _core.inner_graph_of(op)
    return [] if inner is None else list(inner[1])


def get_var_by_name(graphs: Graphs, target_var_id: str) -> tuple[Variable, ...]:
    """The variables with this name in the graphs and in inner graphs of their ops."""
    found: dict[Variable, None] = {}
    waiting = _variables(graphs)
    while waiting:
        for v in ancestors(waiting.pop()):
            if v.name == target_var_id:
                found[v] = None
            if v.owner is not None:
                waiting.extend(inner_outputs(v.owner.op))
    return tuple(found)
