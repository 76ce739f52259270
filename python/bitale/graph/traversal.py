"""Walks over graphs."""

from bitale._core import (
    ancestors,
    explicit_graph_inputs,
    graph_inputs,
    node_count,
    toposort,
    variable_depends_on,
)
