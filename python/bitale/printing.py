"""Graphs as text and pictures: `dprint` draws the tree of nodes, `pprint` writes the mathematics, `pydotprint` makes a
picture, `html` a page for graphs of any size."""

from __future__ import annotations

import sys
from typing import Any

from bitale import _core
from bitale._core import pprint
from bitale._picture import dot_text, html, node_times, pydotprint
from bitale.profile import profile, profile_html

__all__ = [
    "debugprint",
    "dot_text",
    "dprint",
    "html",
    "node_times",
    "pp",
    "pprint",
    "profile",
    "profile_html",
    "pydotprint",
]

pp = pprint


def debugprint(
    graph_like: Any,
    depth: int = -1,
    print_type: bool = False,
    print_shape: bool = False,
    file: Any = None,
    id_type: str = "CHAR",
    stop_on_name: bool = False,
    *,
    print_destroy_map: bool = False,
    print_view_map: bool = False,
    print_memory_map: bool = False,
    print_fgraph_inputs: bool = False,
    provenance: bool = False,
) -> str | None:
    """Prints the tree below variables, Apply nodes, FunctionGraphs or functions (one, or a list of them).

    file: where to; ``"str"`` returns the text instead. depth: levels to print, -1 for all.
    provenance: after each node, the rewrite rules that made it and the line it came from.
    """
    text = _core.dprint_text(
        graph_like,
        depth=depth,
        print_type=print_type,
        print_shape=print_shape,
        id_type=id_type,
        stop_on_name=stop_on_name,
        print_destroy_map=print_destroy_map or print_memory_map,
        print_view_map=print_view_map or print_memory_map,
        print_fgraph_inputs=print_fgraph_inputs,
        provenance=provenance,
    )
    if file == "str":
        return text
    (sys.stdout if file is None else file).write(text if text.endswith("\n") else text + "\n")
    return None


dprint = debugprint


def function_dprint(function: _core.Function, stage: str = "graph", *, file: Any = None, **options: Any) -> str | None:
    """Prints a compiled function: its graph, or another stage such as "program"."""
    if stage == "graph" and options:
        return debugprint(function.fgraph, file=file, **options)
    text = function._text(stage)
    if file == "str":
        return text
    (sys.stdout if file is None else file).write(text if text.endswith("\n") else text + "\n")
    return None
