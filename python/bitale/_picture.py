"""Pictures of graphs: Graphviz's `dot` draws them, and a page of HTML shows those that are too large for a picture."""

from __future__ import annotations

import os
import warnings
from typing import Any, Mapping

import numpy as np

from bitale import _core

_in_notebook = 200  # nodes; a larger picture is unreadable there


def _outputs(fct: Any, who: str) -> list[Any]:
    if isinstance(fct, _core.Function):
        return fct.fgraph.outputs
    if isinstance(fct, (_core.FunctionGraph, _core.Apply)):
        return fct.outputs
    outputs: list[Any] = _core.tree_flatten(fct)[0]
    for output in outputs:
        if not isinstance(output, _core.Variable):
            raise TypeError(
                f"{who}: expected variables, FunctionGraphs or functions, got {output!r}"
            )
    return outputs


def _output_names(fct: Any) -> list[str]:
    """What is written at the outputs: the dimensions of those that have names for them, else the path in a tree."""
    if isinstance(fct, _core.Function):
        return fct._output_labels
    if isinstance(fct, (list, tuple)) and len(fct) == 1 and isinstance(fct[0], _core.Function):
        return fct[0]._output_labels
    objects, outer = _core.tree_flatten(fct, _core.is_registered)
    if not (any(map(_core.is_registered, objects)) or isinstance(fct, dict)):
        return []
    out = []
    for each, path in zip(objects, outer.paths()):
        label = ", ".join(getattr(each, "dims", ())) if _core.is_registered(each) else path
        out += [label] * len(_core.tree_flatten(each)[0])
    return out


def _condition(outputs: list[Any], cond_highlight: Any) -> Any:
    if cond_highlight is not True:
        return cond_highlight or None
    for node in _core.toposort(outputs):
        if node.op.name.startswith("IfElse"):
            return node
    warnings.warn(
        "pydotprint: cond_highlight is set, but the graph has no IfElse node", stacklevel=3
    )
    return None


def _write(path: Any, content: bytes) -> None:
    folder = os.path.dirname(os.fspath(path))
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


def dot_text(fct: Any, **options: Any) -> str:
    """Write a graph in the language of Graphviz.

    Parameters
    ----------
    fct : Variable, Apply, FunctionGraph or Function
        Graph.
    **options : object
        Options of `pydotprint` that change how the graph looks.

    Returns
    -------
    str
        Text.

    See Also
    --------
    pydotprint

    Examples
    --------
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
    """Draw a graph to a file.

    Apply nodes are blue, variables red, ops green and types purple. Inputs have
    bold frames, constants dashed and outputs double ones.

    Parameters
    ----------
    fct : Variable, Apply, FunctionGraph or Function
        Graph.
    outfile : path, optional
        File; its ending determines the format. "dot" needs no Graphviz.
    compact : bool
        Leave out variables between nodes that have no name.
    format : str
        Format of a file without an ending, and of the returned image.
    with_ids : bool
        Number nodes and variables.
    high_contrast : bool
        Fill shapes with colours, otherwise frames.
    cond_highlight : Apply or bool, optional
        Node with a condition and two sides, whose sides are marked; True looks
        for an IfElse.
    colorCodes : mapping, optional
        Colours of nodes by names of ops.
    max_label_size : int, optional
        Characters of a label, beyond which it is cut; None for no limit.
    scan_graphs : bool
        Accepted for compatibility with PyTensor.
    var_with_name_simple : bool
        Show the names of named variables alone.
    print_output_file : bool
        Print where the file is.
    return_image : bool
        Return the image.
    structure : bool
        Draw ops and types as nodes.

    Returns
    -------
    bytes or None
        The image, if `return_image`.

    Raises
    ------
    NotImplementedError
        If Graphviz is needed and not installed.
    TypeError
        If `fct` is not a graph.
    ValueError
        With Graphviz's message, if it refuses the format or a colour.

    See Also
    --------
    html, debugprint
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


def html(
    fct: Any, outfile: Any = None, *, title: str = "", times: Mapping[Any, float] | None = None
) -> str:
    """Write a graph as a page that can be zoomed, searched and folded.

    The page needs neither the network nor Graphviz. Of a function it shows the
    graph before and after rewriting, and the loops.

    Parameters
    ----------
    fct : Variable, Apply, FunctionGraph or Function
        Graph.
    outfile : path, optional
        Where to write the page.
    title : str
        Title.
    times : mapping, optional
        Seconds for each Apply node, which the page shows and uses to colour nodes.

    Returns
    -------
    str
        The page.

    See Also
    --------
    node_times, pydotprint
    """
    if isinstance(fct, _core.Function):
        page = _core.function_html(fct, title, times)
    else:
        page = _core.graph_html(_outputs(fct, "html"), "graph", title or "graph", times)
    if outfile is not None:
        _write(outfile, page.encode())
    return page


def node_times(function: Any, *inputs: Any, runs: int = 3) -> dict[Any, float]:
    """Measure the time of each node of a function.

    The interpreter runs the nodes one by one: this shows which are expensive, not
    what a call costs.

    Parameters
    ----------
    function : Function
        Function; shared variables are read and stay as they are.
    *inputs : array_like
        Arguments of the call.
    runs : int
        Number of runs, of which the minimum counts.

    Returns
    -------
    dict
        Seconds for each Apply node of ``function.fgraph``.

    Raises
    ------
    ValueError
        For a wrong number of inputs.

    See Also
    --------
    html
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


def _shape_text(lengths: Any) -> str:
    return " × ".join("?" if length is None else str(length) for length in lengths) or "scalar"


def _shared_html(variable: Any) -> str:
    from html import escape

    value = variable.get_value(borrow=True)
    with np.printoptions(threshold=30, edgeitems=2, precision=6):
        text = str(value)
    head = f"<b>{escape(variable.name or 'shared variable')}</b>: {value.dtype}, {_shape_text(value.shape)}"
    return f"<div>{head}, type <code>{escape(repr(variable.type))}</code><pre>{escape(text)}</pre></div>"


def type_html(type: Any) -> str:
    """What a notebook shows of the type of tensors: dtype, rank and lengths."""
    from html import escape

    names = {0: "scalar", 1: "vector", 2: "matrix"}
    lengths = f", {_shape_text(type.shape)}" if type.ndim else ""
    return f"<div><b>{names.get(type.ndim, f'tensor of {type.ndim} dimensions')}</b> of {type.dtype}{lengths}: <code>{escape(repr(type))}</code></div>"


_core.TensorType._repr_html_ = type_html  # type: ignore[attr-defined]


def notebook_html(graph: Any) -> str | None:
    """What a notebook shows of a function or FunctionGraph: the page, in a frame of its own. Of a shared variable its value, and
    nothing of other variables, which are typeset as mathematics."""
    from html import escape  # rarely needed

    if isinstance(graph, _core.Variable):
        return _shared_html(graph) if isinstance(graph, _core.TensorSharedVariable) else None
    page = escape(html(graph), quote=True)
    return f'<iframe srcdoc="{page}" style="width: 100%; height: 600px; border: 1px solid #ccc"></iframe>'
