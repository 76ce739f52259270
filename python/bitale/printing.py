"""Graphs as text and pictures: `dprint` draws the tree of nodes, `pprint` writes the mathematics, `pydotprint` makes a
picture, `html` a page for graphs of any size."""

from __future__ import annotations

import dataclasses
import importlib
import sys
from typing import Any, Callable

from bitale._geography import absent
from bitale import _core
from bitale._core import latex
from bitale._graph_model import (
    GraphModel,
    GraphModelNode,
    GraphNode,
    build_graph_model,
    char_from_number,
    iter_graph_nodes,
)
from bitale._picture import dot_text, html, node_times, pydotprint
from bitale._pprinter import (
    ConstantPrinter,
    DefaultPrinter,
    FunctionPrinter,
    IgnorePrinter,
    LeafPrinter,
    OperatorPrinter,
    PatternPrinter,
    PPrinter,
    Printer,
    PrinterState,
    constant_printer,
    default_printer,
    leaf_printer,
    pprint,
    set_precedence,
)

__all__ = [
    "ConstantPrinter",
    "DefaultPrinter",
    "FunctionPrinter",
    "GraphModel",
    "GraphModelNode",
    "GraphNode",
    "IgnorePrinter",
    "LeafPrinter",
    "OperatorPrinter",
    "PPrinter",
    "PatternPrinter",
    "Print",
    "Printer",
    "PrinterState",
    "build_graph_model",
    "char_from_number",
    "constant_printer",
    "debugprint",
    "default_printer",
    "dot_text",
    "dprint",
    "get_node_by_id",
    "html",
    "iter_graph_nodes",
    "latex",
    "leaf_printer",
    "min_informative_str",
    "node_times",
    "pp",
    "pprint",
    "profile",
    "profile_html",
    "pydotprint",
    "set_precedence",
]

pp = pprint


def __getattr__(name: str) -> Any:
    if name in ("profile", "profile_html"):  # few programs need these
        return getattr(importlib.import_module("bitale.profile"), name)
    return absent(__name__)(name)


def _variables_and_lines(graph_like: Any) -> tuple[Any, str]:
    """The variables in place of a tree of them, and a line for each object of a registered class, whose dimensions, positions or
    names a graph does not have; of a function those of its inputs and outputs."""
    leaves, structure = _core.tree_flatten(graph_like)
    lines = [f"{each!r}" for each in _core.registered_in(graph_like)]
    for each in leaves:
        if isinstance(each, _core.Function):
            maker = each.maker
            given = [x for one in maker.given_inputs for x in _core.registered_in(one.tree)]
            lines += [f"input {x!r}" for x in given]
            lines += [
                f"output {x!r}"
                for one in maker.given_outputs
                for x in _core.registered_in(one.tree)
            ]
    several = isinstance(graph_like, (list, tuple)) or len(leaves) != 1
    return leaves if several else leaves[0], "".join(f"{line}\n" for line in lines)


def debugprint(
    graph_like: Any,
    depth: int = -1,
    print_type: bool = False,
    print_shape: bool = False,
    file: Any = None,
    id_type: str = "CHAR",
    stop_on_name: bool = False,
    done: dict[Any, str] | None = None,
    print_storage: bool = False,
    used_ids: dict[Any, str] | None = None,
    print_op_info: bool = False,
    print_destroy_map: bool = False,
    print_view_map: bool = False,
    print_memory_map: bool = False,
    print_inner_graphs: bool | str = "auto",
    print_fgraph_inputs: bool = False,
    print_assumptions: bool = False,
    *,
    provenance: bool = False,
) -> Any:
    """Print graphs as trees.

    Parameters
    ----------
    graph_like : Variable, Apply, FunctionGraph, Function or sequence of these
        What to print. For a labelled variable, a line with the dimensions precedes the graph.
    depth : int
        Number of levels to print; -1 for all.
    print_type : bool
        Print the types of variables.
    print_shape : bool
        Print the static shapes of variables.
    file : file, 'str' or 'rich', optional
        Where to print; by default stdout. ``'str'`` returns the text,
        ``'rich'`` a ``rich.tree.Tree``.
    id_type : str
        How nodes are identified: 'CHAR' by letters, 'int' by numbers, 'id' by
        addresses, '' not at all.
    stop_on_name : bool
        Do not follow variables that have a name.
    done : dict, optional
        Nodes that are printed already, shared by several calls.
    print_storage : bool
        Print the values of shared variables.
    used_ids : dict, optional
        Identifiers of nodes, shared by several calls.
    print_op_info : bool
        Print the attributes of ops.
    print_destroy_map : bool
        Print which inputs ops overwrite.
    print_view_map : bool
        Print which outputs are views of inputs.
    print_memory_map : bool
        Print both.
    print_inner_graphs : bool or 'auto'
        Print the inner graphs of ops, such as that of an OpFromGraph.
    print_fgraph_inputs : bool
        Print the inputs of function graphs.
    print_assumptions : bool
        Print the known facts about matrices.
    provenance : bool
        Print, after each node, the rules that created it and the line of the program from which it comes.

    Returns
    -------
    object
        None, or the text or tree requested by `file`.

    Raises
    ------
    ImportError
        If `file` is 'rich' and the package is not installed.

    See Also
    --------
    pprint, pydotprint

    Examples
    --------
    >>> x = pt.dvector("x")
    >>> bt.dprint(pt.exp(x) + 1, id_type="")
    Add
     ├─ Exp
     │  └─ x
     └─ ExpandDims{axis=0}
        └─ 1
    """
    graph_like, names = _variables_and_lines(graph_like)
    text = names + _core.dprint_text(
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
        print_inner_graphs=bool(print_inner_graphs),
        done=done,
        used_ids=used_ids,
        print_storage=print_storage,
        print_op_info=print_op_info,
        print_assumptions=print_assumptions,
    )
    if file == "str":
        return text
    if file == "rich":
        from bitale._rich_tree import rich_tree

        return rich_tree(text)
    (sys.stdout if file is None else file).write(text if text.endswith("\n") else text + "\n")
    return None


dprint = debugprint


def get_node_by_id(graphs: Any, target_var_id: str, id_types: str = "CHAR") -> Any:
    """Node that `debugprint` prints with an identifier.

    Parameters
    ----------
    graphs : Variable, Apply, FunctionGraph, Function or sequence of these
        What was printed.
    target_var_id : str
        Identifier.
    id_types : str
        Argument `id_type` used for printing.

    Returns
    -------
    Apply, Variable or None
        The node, or the leaf; None if there is none.

    Examples
    --------
    >>> x = pt.dscalar("x")
    >>> y = pt.exp(x) + x
    >>> bt.dprint(y)
    Add [id A]
     ├─ Exp [id B]
     │  └─ x [id C]
     └─ x [id C]
    >>> bt.printing.get_node_by_id(y, "B")
    Exp(x)
    """
    if id_types not in ("CHAR", "int"):
        raise ValueError(
            f'get_node_by_id: id_types is "CHAR" or "int", which number what is printed; got {id_types!r}'
        )
    roots = list(graphs) if isinstance(graphs, (list, tuple)) else [graphs]
    outputs = [v for root in roots for v in _outputs_of(root)]
    seen: dict[Any, str] = {}
    stack = list(reversed(outputs))
    while stack:
        v = stack.pop()
        key = v if v.owner is None else v.owner
        if key in seen:
            continue
        seen[key] = char_from_number(len(seen)) if id_types == "CHAR" else str(len(seen))
        if seen[key] == target_var_id:
            return key
        if v.owner is not None:
            stack.extend(reversed(v.owner.inputs))
    return None


def _outputs_of(graph: Any) -> list[Any]:
    if isinstance(graph, _core.Variable):
        return [graph]
    if isinstance(graph, _core.Function):
        return list(graph.fgraph.outputs)
    if isinstance(graph, (_core.Apply, _core.FunctionGraph)):
        return list(graph.outputs)
    raise TypeError(f"expected variables, Apply nodes, FunctionGraphs or functions, got {graph!r}")


def min_informative_str(obj: Any, indent_level: int = 0) -> str:
    """Write a graph as numbered lines.

    Parameters
    ----------
    obj : Variable
        Where the graph ends.
    indent_level : int
        Indentation of the first line.

    Returns
    -------
    str
        A line per node; a node that occurs again is written as its number.

    Examples
    --------
    >>> x = pt.dscalar("x")
    >>> print(bt.printing.min_informative_str(pt.exp(x) * x))
    A. Mul
     B. Exp
      C. x
     <C>
    """
    numbers: dict[Any, str] = {}
    lines = []
    stack = [(v, indent_level) for v in reversed(_outputs_of(obj))]
    while stack:
        v, level = stack.pop()
        if v in numbers:
            lines.append(" " * level + f"<{numbers[v]}>")
            continue
        numbers[v] = char_from_number(len(numbers))
        name = v.name or (str(v.owner.op) if v.owner is not None else str(getattr(v, "data", v)))
        lines.append(" " * level + f"{numbers[v]}. {name}")
        if v.owner is not None and not v.name:
            stack.extend((each, level + 1) for each in reversed(v.owner.inputs))
    return "\n".join(lines)


def function_dprint(
    function: _core.Function, stage: str = "graph", *, file: Any = None, **options: Any
) -> str | None:
    """Prints a compiled function: its graph, or another stage such as "program"."""
    if stage == "graph" and options:
        graph: str | None = debugprint(function.fgraph, file=file, **options)
        return graph
    text: str = function._text(stage)
    if file == "str":
        return text
    (sys.stdout if file is None else file).write(text if text.endswith("\n") else text + "\n")
    return None


# ---- printing while a function runs ----------------------------------------------------------------------------------


def _print_attributes(op: Print, value: Any) -> None:
    for name in op.attrs:
        found = getattr(value, name)
        print(op.message, name, "=", found() if callable(found) else found)


_print_functions: dict[str, Callable[[Any, Any], None]] = {}


def _named(function: Callable[[Any, Any], None]) -> str:
    """A name by which the function is found again; functions that can't be imported are numbered."""
    name = f"{getattr(function, '__module__', '')}:{getattr(function, '__qualname__', 'function')}"
    if _found(name) is not function:
        known = [known for known, other in _print_functions.items() if other is function]
        name = known[0] if known else f"{name}#{len(_print_functions)}"
    _print_functions[name] = function
    return name


def _found(name: str) -> Any:
    module, _, path = name.rpartition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError):
        return None
    return found


@dataclasses.dataclass(frozen=True)
class Print:
    """Op that prints a value whenever it is computed.

    ``Print("message")(x)`` is x. Equal prints of the same variable are merged; a print whose result
    is not needed is removed. Derivatives pass through.

    Parameters
    ----------
    message : str
        Text before the value.
    attrs : tuple of str
        Attributes or methods of the array to print.
    global_fn : callable
        Function of this object and the array, called instead of printing.
    """

    message: str = ""
    attrs: tuple[str, ...] = ("__str__",)
    global_fn: Callable[[Any, Any], None] = _print_attributes

    def __post_init__(self) -> None:
        object.__setattr__(self, "attrs", tuple(self.attrs))

    @property
    def op(self) -> _core.Op:
        """The op that it stands for."""
        function = "" if self.global_fn is _print_attributes else _named(self.global_fn)
        return _core.print_op(self.message, list(self.attrs), function)

    def __call__(self, x: Any) -> Any:
        return self.op(x)


def print_value(message: str, attrs: list[str], function: str, value: Any) -> None:
    """What a print in a running function does."""
    if not function:
        _print_attributes(Print(message, tuple(attrs)), value)
        return
    global_fn = _print_functions.get(function) or _found(function)
    if global_fn is None:
        raise NotImplementedError(
            f"Print: the function {function} is not there; it was not stored with the graph"
        )
    global_fn(Print(message, tuple(attrs), global_fn), value)
