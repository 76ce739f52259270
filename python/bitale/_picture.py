"""Pictures of graphs: Graphviz's `dot` draws them, and a page of HTML shows those that are too large for a picture."""

from __future__ import annotations

import os
import warnings
from typing import Any, Mapping

from bitale import _core

_in_notebook = 200  # nodes; a larger picture is unreadable there


def _outputs(fct: Any, who: str) -> list[Any]:
    if isinstance(fct, _core.Function):
        return fct.fgraph.outputs
    if isinstance(fct, (_core.FunctionGraph, _core.Apply)):
        return fct.outputs
    outputs = list(fct) if isinstance(fct, (list, tuple)) else [fct]
    for output in outputs:
        if not isinstance(output, _core.Variable):
            raise TypeError(f"{who}: expected variables, FunctionGraphs or functions, got {output!r}")
    return outputs


def _output_names(fct: Any) -> list[str]:
    return fct._output_labels if isinstance(fct, _core.Function) else []


def _condition(outputs: list[Any], cond_highlight: Any) -> Any:
    if cond_highlight is not True:
        return cond_highlight or None
    for node in _core.toposort(outputs):
        if node.op.name.startswith("IfElse"):
            return node
    warnings.warn("pydotprint: cond_highlight is set, but the graph has no IfElse node", stacklevel=3)
    return None


def _write(path: Any, content: bytes) -> None:
    folder = os.path.dirname(os.fspath(path))
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


def dot_text(fct: Any, **options: Any) -> str:
    """The graph in Graphviz's language; the options are those of `pydotprint` that say how it looks.

    >>> print(bt.printing.dot_text(pt.exp(pt.dscalar("x")))[:7])
    digraph
    """
    return _core.dot_text(_outputs(fct, "dot_text"), output_names=_output_names(fct), **options)


def pydotprint(
    fct: Any,
    outfile: Any = None,
    compact: bool = True,
    format: str = "png",
    with_ids: bool = False,
    high_contrast: bool = True,
    cond_highlight: Any = None,
    colorCodes: Mapping[str, str] | None = None,
    max_label_size: int | None = 70,
    scan_graphs: bool = False,
    var_with_name_simple: bool = False,
    print_output_file: bool = True,
    return_image: bool = False,
    *,
    structure: bool = False,
) -> Any:
    """Draws a graph or a compiled function to a file, or returns the image as bytes.

    Apply nodes are blue, Variables red, Ops green and Types purple. Inputs have bold frames, constants dashed ones,
    outputs double ones. The options are PyTensor's, and `structure`.

    fct: variables, an Apply node, a FunctionGraph or a function.
    outfile: its ending says the format. "dot" needs no Graphviz, every other one ("svg", "png", "pdf") its program `dot`.
    compact: leave out variables between nodes that have no name; their types stand at the lines.
    format: of an outfile without an ending, and of the returned image.
    with_ids: number the nodes in the order of the graph, and the variables.
    high_contrast: the colours fill shapes; otherwise they frame them.
    cond_highlight: a node with a condition and two sides, such as a Switch: what only its first side needs gets a thick
        green frame, the second side's a pink one, what both need an orange one. True looks for an IfElse node.
    colorCodes: names of ops and the colours of their nodes, such as {"Elemwise": "gold"}.
    max_label_size: characters of a label; longer ones are cut, None for never.
    scan_graphs: draw the inner graphs of loops too; no op has one, so that there is nothing to draw.
    var_with_name_simple: of variables that have a name, show nothing else.
    print_output_file: say where the file is.
    return_image: return the image; nothing is written unless `outfile` is given as well.
    structure: draw Ops and Types as nodes of their own.

    NotImplementedError when Graphviz is needed and not installed, TypeError for what is no graph, ValueError with
    Graphviz's message when it refuses the format or a colour.
    """
    del scan_graphs
    outputs = _outputs(fct, "pydotprint")
    text = _core.dot_text(
        outputs,
        output_names=_output_names(fct),
        compact=compact,
        structure=structure,
        with_ids=with_ids,
        high_contrast=high_contrast,
        var_with_name_simple=var_with_name_simple,
        max_label_size=max_label_size,
        color_codes=dict(colorCodes or {}),
        condition=_condition(outputs, cond_highlight),
    )
    if outfile is None and not return_image:
        outfile = f"bitale.{format}"
    if outfile is not None:
        format = os.path.splitext(os.fspath(outfile))[1][1:] or format
    image = _core.draw(text, format)
    if outfile is not None:
        _write(outfile, image)
        if print_output_file:
            print("The output file is available at", os.fspath(outfile))
    return image if return_image else None


def html(fct: Any, outfile: Any = None, *, title: str = "", times: Mapping[Any, float] | None = None) -> str:
    """A page that shows a graph or a compiled function, and needs neither the network nor Graphviz; as text, and as a file.

    It zooms, searches, and folds: a node takes in what only it needs, or all that one line of the program made is one.
    Of a function it shows the graph after and before rewriting side by side, and the loops.

    times: seconds per Apply node (of ``f.fgraph``), which the page then shows and colours nodes by; `node_times` measures.
    """
    if isinstance(fct, _core.Function):
        page = _core.function_html(fct, title, times)
    else:
        page = _core.graph_html(_outputs(fct, "html"), "graph", title or "graph", times)
    if outfile is not None:
        _write(outfile, page.encode())
    return page


def node_times(function: Any, *inputs: Any, runs: int = 3) -> dict[Any, float]:
    """Seconds that the interpreter takes for each node of ``function.fgraph``, for these inputs: the least of some runs.

    Shared variables are read and stay as they are. Native code makes loops of many nodes, so this says which nodes are
    dear, not what a call costs. ValueError for another number of inputs; else whatever a call raises.
    """
    return _core.node_times(function, inputs, runs)


def notebook_svg(graph: Any) -> str | None:
    """What a notebook shows of a variable or node: nothing where Graphviz is missing or the graph is large."""
    outputs = _outputs(graph, "_repr_svg_")
    if _core.node_count(outputs) > _in_notebook:
        return None
    try:
        return _core.draw(_core.dot_text(outputs), "svg").decode()
    except NotImplementedError:
        return None


def notebook_html(graph: Any) -> str:
    """What a notebook shows of a function or FunctionGraph: the page, in a frame of its own."""
    from html import escape  # rarely needed

    page = escape(html(graph), quote=True)
    return f'<iframe srcdoc="{page}" style="width: 100%; height: 600px; border: 1px solid #ccc"></iframe>'
