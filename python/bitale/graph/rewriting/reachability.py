"""Which nodes depend on which, as sets of bits: for rewrites that combine several nodes into one, which must not depend on each other through others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = [
    "ancestor_bitsets",
    "greedy_independent_subset",
    "update_ancestors_after_contraction",
    "update_ancestors_after_contraction_bits",
]


def ancestor_bitsets(
    fgraph: Any, toposorted_nodes: Sequence[Any] | None = None
) -> tuple[dict[Any, int], dict[Any, int]]:
    """Number the nodes of a graph by bits, and find on which each depends.

    Parameters
    ----------
    fgraph : FunctionGraph
        Graph.
    toposorted_nodes : sequence of Apply, optional
        Its nodes, each after those it depends on; by default they are sorted.

    Returns
    -------
    tuple of dict
        For each node the bits of itself and of all nodes on which it depends,
        and the bit of each node. None, the owner of an input, has no bits.
    """
    nodes = fgraph.toposort() if toposorted_nodes is None else toposorted_nodes
    bitflags: dict[Any, int] = {node: 1 << at for at, node in enumerate(nodes)}
    ancestors: dict[Any, int] = {None: 0}
    for node, bits in bitflags.items():
        for variable in node.inputs:
            bits |= ancestors[variable.owner]
        ancestors[node] = bits
    bitflags[None] = 0
    return ancestors, bitflags


def greedy_independent_subset(
    ancestors: dict[Any, int], bitflags: dict[Any, int], candidates: Sequence[Any]
) -> list[Any]:
    """Choose nodes none of which depends on another: in order, each candidate that is independent of those before.

    Parameters
    ----------
    ancestors, bitflags : dict
        As `ancestor_bitsets` returns them.
    candidates : sequence of Apply
        Nodes to choose from.

    Returns
    -------
    list of Apply
        The chosen ones.
    """
    chosen: list[Any] = []
    bits = below = 0
    for node in candidates:
        if not (ancestors[node] & bits or bitflags[node] & below):
            chosen.append(node)
            bits |= bitflags[node]
            below |= ancestors[node]
    return chosen


def update_ancestors_after_contraction_bits(
    ancestors: dict[Any, int], member_bits: int, combined_ancestors: int
) -> None:
    """Note that some nodes have become one, so that what depends on one of them depends on all.

    Parameters
    ----------
    ancestors : dict
        As `ancestor_bitsets` returns it; it is changed.
    member_bits : int
        Bits of the nodes.
    combined_ancestors : int
        Bits of all nodes on which these depend.
    """
    for node, bits in ancestors.items():
        if bits & member_bits:
            ancestors[node] = bits | combined_ancestors


def update_ancestors_after_contraction(
    ancestors: dict[Any, int], bitflags: dict[Any, int], nodes: Sequence[Any]
) -> None:
    """Note that some nodes have become one, so that what depends on one of them depends on all.

    Parameters
    ----------
    ancestors, bitflags : dict
        As `ancestor_bitsets` returns them; `ancestors` is changed.
    nodes : sequence of Apply
        The nodes.
    """
    bits = below = 0
    for node in nodes:
        bits |= bitflags[node]
        below |= ancestors[node]
    update_ancestors_after_contraction_bits(ancestors, bits, below)
