"""``bitale view``: a picture or page of a graph or function that a module, a script or a pickle holds."""

from __future__ import annotations

import importlib
import os
import pickle
import runpy
import sys
from typing import Any

import bitale
from bitale import _core

_graphs = (_core.Variable, _core.Apply, _core.FunctionGraph, _core.Function)


def add(verbs: Any, common: Any) -> None:
    parser = verbs.add_parser("view", parents=[common], help="draw a graph or function")
    parser.add_argument(
        "target",
        help="package.module:name or script.py:name of a variable, list of variables, FunctionGraph or function, "
        "or the file of a pickled one; a script is run",
    )
    parser.add_argument(
        "-o",
        "--output",
        help="file whose extension gives the format (html, svg, png, pdf, dot); default NAME.html",
    )
    parser.add_argument("--full", action="store_true", help="draw also variables that have no name")
    parser.add_argument(
        "--structure", action="store_true", help="draw ops and types as separate nodes"
    )
    parser.add_argument("--ids", action="store_true", help="number the nodes")
    parser.add_argument(
        "--profile",
        action="store_true",
        help="run the module or script with profiling, show the function's profile",
    )
    parser.add_argument("--open", action="store_true", help="show the file in the browser")
    parser.set_defaults(run=run, show=lambda result: result["file"])


def run(options: Any) -> dict[str, Any]:
    graph, name = _find_profiled(options.target) if options.profile else find(options.target)
    file = options.output or f"{name}.html"
    if options.profile:
        from bitale.profile import profile_html

        profile_html(graph, file)
    elif os.path.splitext(file)[1].lower() in (".html", ".htm"):
        bitale.printing.html(graph, file, title=getattr(graph, "name", None) or name)
    else:
        bitale.printing.pydotprint(
            graph,
            file,
            compact=not options.full,
            structure=options.structure,
            with_ids=options.ids,
            print_output_file=False,
        )
    if options.open:
        import webbrowser

        webbrowser.open("file://" + os.path.abspath(file))
    return {"file": file, "bytes": os.path.getsize(file)}


def _find_profiled(target: str) -> tuple[Any, str]:
    from bitale.profile import print_profiles

    with bitale.config.change_flags(profile=True, profiling__destination=os.devnull):
        graph, name = find(target)
        print_profiles()  # only the page was requested
    if not isinstance(graph, _core.Function):
        raise TypeError(
            f"view: expected a function to show the profile of, but {target} is {type(graph).__name__}"
        )
    return graph, name


def find(target: str) -> tuple[Any, str]:
    """The graph that "module:name", "script.py:name" or the name of a pickle refers to, and a title for it."""
    module, colon, name = target.rpartition(":")
    if not colon:
        if not os.path.exists(target):
            raise ValueError(
                f"view: expected module:name, script.py:name or the file of a pickle, got {target!r}"
            )
        with open(target, "rb") as file:
            graph = pickle.load(file)
        name = os.path.splitext(os.path.basename(target))[0]
    else:
        graph = _module(module)
        for part in name.split("."):
            if isinstance(graph, dict) and part not in graph:
                raise ValueError(f"view: {module} has no {part!r}")
            graph = graph[part] if isinstance(graph, dict) else getattr(graph, part)
    members = graph if isinstance(graph, (list, tuple)) and graph else [graph]
    if not all(isinstance(member, _graphs) for member in members):
        raise TypeError(
            f"view: expected variables, FunctionGraphs or functions, but {target} is {type(graph).__name__}"
        )
    return graph, name


def _module(module: str) -> dict[str, Any]:
    folder = os.path.dirname(module) if module.endswith(".py") else os.getcwd()
    sys.path.insert(0, folder or os.getcwd())
    try:
        if module.endswith(".py"):
            return runpy.run_path(module)
        return vars(importlib.import_module(module))
    finally:
        sys.path.remove(folder or os.getcwd())
