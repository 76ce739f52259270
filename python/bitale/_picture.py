"""Pictures of graphs, drawn by Graphviz's `dot`: ellipses are operations, boxes are variables."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Any

from bitale import _core


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _short(text: str, size: int) -> str:
    return text if len(text) <= size else text[: size - 1] + "…"


def _outputs(fct: Any) -> list[Any]:
    if isinstance(fct, _core.Function):
        return fct.fgraph.outputs
    if isinstance(fct, _core.FunctionGraph):
        return fct.outputs
    if isinstance(fct, _core.Apply):
        return fct.outputs
    outputs = list(fct) if isinstance(fct, (list, tuple)) else [fct]
    for output in outputs:
        if not isinstance(output, _core.Variable):
            raise TypeError(f"pydotprint: expected variables, FunctionGraphs or functions, got {output!r}")
    return outputs


def dot_text(fct: Any, *, compact: bool = True, var_with_name_simple: bool = False, max_label_size: int = 70) -> str:
    """The graph in Graphviz's language. compact leaves out variables between operations that have no name."""
    outputs = _outputs(fct)
    nodes = _core.toposort(outputs)
    final = set(outputs)
    lines = ["digraph {", "  node [fontname=sans, fontsize=11];"]
    names: dict[Any, str] = {}

    def shown(variable: _core.Variable) -> bool:
        return not compact or variable.owner is None or variable.name is not None or variable in final

    def box(variable: _core.Variable) -> str:
        if variable not in names:
            names[variable] = f"v{len(names)}"
            label = str(variable) if variable.owner is None else variable.name or ""
            if not (var_with_name_simple and variable.name):
                label = f"{label} {variable.type}" if label else str(variable.type)
            color = ""
            if variable in final:
                color = ", style=filled, fillcolor=lightblue"
            elif isinstance(variable, _core.Constant):
                color = ", style=filled, fillcolor=hotpink"
            elif variable.owner is None:
                color = ", style=filled, fillcolor=limegreen"
            lines.append(f"  {names[variable]} [shape=box, label={_quoted(_short(label, max_label_size))}{color}];")
        return names[variable]

    for node in nodes:
        names[node] = f"n{len(names)}"
        lines.append(f"  {names[node]} [shape=ellipse, label={_quoted(_short(str(node.op), max_label_size))}];")
        for i, variable in enumerate(node.inputs):
            source = box(variable) if shown(variable) else names[variable.owner]
            label = f" [label={i}]" if len(node.inputs) > 1 else ""
            lines.append(f"  {source} -> {names[node]}{label};")
        for variable in node.outputs:
            if shown(variable):
                lines.append(f"  {names[node]} -> {box(variable)};")
    for output in outputs:
        box(output)
    return "\n".join([*lines, "}", ""])


def pydotprint(
    fct: Any,
    outfile: Any = None,
    compact: bool = True,
    format: str = "png",
    var_with_name_simple: bool = False,
    max_label_size: int = 70,
    print_output_file: bool = True,
    return_image: bool = False,
) -> Any:
    """Draws a graph or a compiled function to a file, or returns the image.

    The file's ending says the format; "dot" needs no Graphviz, every other one its program `dot`.
    """
    text = dot_text(fct, compact=compact, var_with_name_simple=var_with_name_simple, max_label_size=max_label_size)
    if outfile is None and not return_image:
        outfile = f"bitale.{format}"
    if outfile is not None:
        ending = os.path.splitext(os.fspath(outfile))[1][1:]
        format = ending or format
    if format in ("dot", "gv"):
        image = text.encode()
    else:
        program = shutil.which("dot")
        if program is None:
            raise RuntimeError(
                'pydotprint: Graphviz\'s program `dot` is not installed; outfile="graph.dot" works without it'
            )
        drawn = subprocess.run([program, f"-T{format}"], input=text.encode(), capture_output=True)
        if drawn.returncode:
            raise ValueError(f"pydotprint: {drawn.stderr.decode(errors='replace').strip()}")
        image = drawn.stdout
    if return_image:
        return image
    folder = os.path.dirname(os.fspath(outfile))
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(outfile, "wb") as file:
        file.write(image)
    if print_output_file:
        print("The output file is available at", os.fspath(outfile))
    return None
