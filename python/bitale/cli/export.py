"""``bitale export``: a function as C code, for projects without Bitale."""

from __future__ import annotations

from typing import Any

from bitale import _core
from bitale.cli.view import find


def add(verbs: Any, common: Any) -> None:
    parser = verbs.add_parser("export", parents=[common], help="write a function as C code that needs no Bitale")
    parser.add_argument(
        "target", help="package.module:name or script.py:name of a function, or the file of a pickled one; a script is run"
    )
    parser.add_argument("-o", "--output", metavar="FOLDER", help="where to; default: a folder of the function's name")
    parser.add_argument("--name", help="what the C function is called; default: the function's name")
    parser.set_defaults(run=run, show=lambda result: "\n".join(result["files"]))


def run(options: Any) -> dict[str, Any]:
    function, name = find(options.target)
    if not isinstance(function, _core.Function):
        raise TypeError(f"export: expected a function, but {options.target} is {type(function).__name__}")
    return {"files": function.export_c(options.output or name, options.name)}
