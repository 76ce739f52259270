"""Expression graphs: nodes, walks, copies, and graphs that may be changed."""

from __future__ import annotations

import importlib
from typing import Any

from bitale.graph.basic import Apply, Constant, Variable, clone, equal_computations
from bitale.graph.fg import FunctionGraph
from bitale.graph.op import Op, as_op, wrap_py
from bitale.graph.replace import clone_replace, graph_replace, vectorize_graph
from bitale.graph.tag import get_test_value
from bitale.graph.traversal import (
    ancestors,
    explicit_graph_inputs,
    graph_inputs,
    node_count,
    toposort,
    variable_depends_on,
)
from bitale.graph.type import Type

__all__ = [
    "Apply",
    "Constant",
    "FunctionGraph",
    "Op",
    "Type",
    "Variable",
    "ancestors",
    "as_op",
    "clone",
    "clone_replace",
    "equal_computations",
    "explicit_graph_inputs",
    "get_test_value",
    "graph_inputs",
    "graph_replace",
    "node_count",
    "toposort",
    "variable_depends_on",
    "vectorize_graph",
    "RewriteDatabaseQuery",
    "graph_rewriter",
    "node_rewriter",
    "rewrite_graph",
    "wrap_py",
]

# Where names are that few programs need.
_LATER = {
    "RewriteDatabaseQuery": "bitale.graph.rewriting.db",
    "graph_rewriter": "bitale.graph.rewriting.basic",
    "node_rewriter": "bitale.graph.rewriting.basic",
    "rewrite_graph": "bitale.graph.rewriting.utils",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:  # from modules that import this one
        return getattr(importlib.import_module(_LATER[name]), name)
    if name in (
        "basic",
        "features",
        "fg",
        "null_type",
        "op",
        "replace",
        "rewriting",
        "traversal",
        "type",
        "utils",
    ):
        return importlib.import_module(f"bitale.graph.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


from bitale import _geography as _geography

_geography.add_modules(__name__)
