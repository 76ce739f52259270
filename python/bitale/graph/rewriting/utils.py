"""Rewriting of expressions by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from bitale import _core
from bitale.graph.basic import Apply, Variable
from bitale.graph.fg import FunctionGraph
from bitale.graph.replace import graph_replace
from bitale.graph.rewriting.db import RewriteDatabaseQuery, core_query

__all__ = ["get_clients_at_depth", "rewrite_graph", "rewrite_subgraph"]


def _tags(given: str | Iterable[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def rewrite_graph(
    graph: Any,
    include: str | Iterable[str] = ("canonicalize",),
    custom_rewrite: Any = None,
    clone: bool = False,
    **kwargs: Any,
) -> Any:
    """Rewrite expressions by selected rules.

    Parameters
    ----------
    graph : TensorVariable, list of TensorVariable or FunctionGraph
        Expressions, or a graph, which is then changed.
    include : str or iterable of str
        Tags and names of rules to apply.
    custom_rewrite : GraphRewriter, optional
        A rewriter, or function of a FunctionGraph, to apply after these.
    clone : bool
        Accepted for compatibility with PyTensor: expressions never change.
    **kwargs : object
        Further arguments of RewriteDatabaseQuery: `exclude`, `require`,
        `subquery`, `position_cutoff`, `extra_rewrites`.

    Returns
    -------
    TensorVariable, list of TensorVariable or FunctionGraph
        Rewritten expressions, on the same leaves; or the graph.

    See Also
    --------
    trace

    Examples
    --------
    >>> x = pt.dscalar("x")
    >>> bt.rewrite.rewrite_graph(x + 0)
    x
    """
    for name in ("exclude", "require"):
        if name in kwargs:
            kwargs[name] = _tags(kwargs[name])
    query = core_query(RewriteDatabaseQuery(_tags(include), **kwargs))
    if isinstance(graph, FunctionGraph):
        for stage in _core.rewrite_stages(query):
            stage.apply(graph)
        if custom_rewrite is not None:
            custom_rewrite(graph)
        return graph
    many = isinstance(graph, (list, tuple))
    results = _core.rewrite_expressions(list(graph) if many else [graph], query, custom_rewrite)
    return results if many else results[0]


def rewrite_subgraph(
    outputs: Sequence[Variable],
    frontier: Iterable[Variable],
    include: str | Iterable[str] = ("canonicalize",),
    **kwargs: Any,
) -> list[Any]:
    """Rewrite expressions of some variables, regardless of how these are computed.

    Parameters
    ----------
    outputs : sequence of Variable
        Expressions.
    frontier : iterable of Variable
        The variables.
    include : str or iterable of str
        Tags and names of rules to apply.
    **kwargs : object
        Further arguments of `rewrite_graph`.

    Returns
    -------
    list of Variable
        Rewritten expressions, of the same variables.
    """
    leaves = {each: each.type() for each in frontier}
    detached = graph_replace(list(outputs), leaves, strict=False)
    rewritten = rewrite_graph(detached, include, **kwargs)
    return list(
        graph_replace(rewritten, {leaf: each for each, leaf in leaves.items()}, strict=False)
    )


def get_clients_at_depth(fgraph: FunctionGraph, node: Apply, depth: int) -> Iterator[Apply]:
    """Find the nodes that use the results of a node at a given distance.

    Parameters
    ----------
    fgraph : FunctionGraph
        Graph.
    node : Apply
        Node.
    depth : int
        How many uses away; 0 for the node itself, once per output.

    Yields
    ------
    Apply
        A node.
    """
    level = [node]
    for _ in range(depth):
        uses = [use for each in level for out in each.outputs for use in fgraph.get_clients(out)]
        level = [user for user, _ in uses if isinstance(user, Apply) and user.outputs]
    for each in level:
        yield from [each] * len(each.outputs)
