"""Tools for your own linkers: cells for the values of a graph, thunks one after the other, and a graph as the text of a
Python function. Names and roles are those of pytensor.link.utils."""

from __future__ import annotations

import builtins
import keyword
import linecache
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, TextIO

from bitale._core import Apply, FunctionGraph, Variable
from bitale.graph.basic import Constant

__all__ = [
    "compile_function_src",
    "fgraph_to_python",
    "gc_helper",
    "get_destroy_dependencies",
    "get_name_for_object",
    "map_storage",
    "raise_with_op",
    "register_thunk_trace_excepthook",
    "streamline",
    "unique_name_generator",
]


def _known_value(variable: Variable) -> Any:
    return variable.data if isinstance(variable, Constant) else None


def map_storage(
    fgraph: FunctionGraph,
    order: Iterable[Apply],
    input_storage: Sequence[list[Any]] | None = None,
    output_storage: Sequence[list[Any]] | None = None,
    storage_map: dict[Variable, list[Any]] | None = None,
) -> tuple[list[list[Any]], list[list[Any]], dict[Variable, list[Any]]]:
    """Make a cell, a list of one value, for each variable of a graph.

    Parameters
    ----------
    fgraph : FunctionGraph
        Graph.
    order : iterable of Apply
        Its nodes.
    input_storage, output_storage : sequence of list, optional
        Cells of its inputs and outputs, where they exist already.
    storage_map : dict, optional
        Cells by variable, to which the others are added.

    Returns
    -------
    tuple
        The cells of the inputs, those of the outputs, and those of all variables. Cells of constants have their values,
        the others None.

    Raises
    ------
    ValueError
        For another number of cells than of inputs or outputs, and for two cells of one variable.
    """
    cells = {} if storage_map is None else storage_map

    def add(variables: Sequence[Variable], storage: Sequence[list[Any]], what: str) -> None:
        if len(variables) != len(storage):
            raise ValueError(
                f"map_storage: expected {len(variables)} cells for the {what}, got {len(storage)}"
            )
        for variable, cell in zip(variables, storage):
            if cells.setdefault(variable, cell) is not cell:
                raise ValueError(f"map_storage: `{variable}`, among the {what}, has two cells")

    if input_storage is None:
        input_storage = [cells.get(variable, [None]) for variable in fgraph.inputs]
    add(fgraph.inputs, input_storage, "inputs")
    if output_storage is not None:
        add(fgraph.outputs, output_storage, "outputs")
    for node in order:
        for variable in node.inputs:
            if variable not in cells:
                cells[variable] = [_known_value(variable)]
        for variable in node.outputs:
            cells.setdefault(variable, [None])
    for variable in fgraph.outputs:
        if variable not in cells:
            cells[variable] = [_known_value(variable)]
    return list(input_storage), [cells[variable] for variable in fgraph.outputs], cells


def gc_helper(node_list: Iterable[Apply]) -> tuple[set[Variable], dict[Variable, Apply]]:
    """Find out how long each value of a program is needed.

    Parameters
    ----------
    node_list : iterable of Apply
        Nodes in the order in which they run.

    Returns
    -------
    tuple
        The variables that are computed, and for each variable the last node that reads it.
    """
    computed: set[Variable] = set()
    last_user: dict[Variable, Apply] = {}
    for node in node_list:
        computed.update(node.outputs)
        for variable in node.inputs:
            last_user[variable] = node
    return computed, last_user


def streamline(
    fgraph: FunctionGraph,
    thunks: Sequence[Callable[[], Any]],
    order: Sequence[Apply],
    *,
    post_thunk_old_storage: Sequence[Sequence[list[Any]]] | None = None,
    no_recycling: Sequence[list[Any]] | None = None,
    nice_errors: bool = True,
    output_storage: Sequence[list[Any]],
) -> Callable[[], list[Any]]:
    """Combine several thunks into one.

    Parameters
    ----------
    fgraph : FunctionGraph
        Graph.
    thunks : sequence of callable
        Functions that run the nodes.
    order : sequence of Apply
        The nodes.
    post_thunk_old_storage : sequence, optional
        For each thunk the cells to empty after it.
    no_recycling : sequence of list, optional
        Cells to empty before the first thunk.
    nice_errors : bool, optional
        Whether exceptions name the node; they always do with `post_thunk_old_storage`.
    output_storage : sequence of list
        Cells whose values the thunk returns.

    Returns
    -------
    callable
        Runs the thunks, and returns the list of values.

    Raises
    ------
    ValueError
        For lists of different lengths.
    """
    old = post_thunk_old_storage or [()] * len(thunks)
    if not len(thunks) == len(order) == len(old):
        raise ValueError(
            f"streamline: expected as many thunks as nodes and lists of old cells, got {len(thunks)}, {len(order)} "
            f"and {len(old)}"
        )
    program = list(zip(thunks, order, old))
    emptied = list(no_recycling or ())

    def run() -> list[Any]:
        for cell in emptied:
            cell[0] = None
        for thunk, node, cells in program:
            try:
                thunk()
            except Exception:
                if not nice_errors and not post_thunk_old_storage:
                    raise
                raise_with_op(fgraph, node, thunk)
            for cell in cells:
                cell[0] = None
        return [cell[0] for cell in output_storage]

    return run


def _texts_of_values(cells: Iterable[list[Any]], attribute: str) -> list[Any]:
    return [getattr(cell[0], attribute, None) for cell in cells]


def raise_with_op(
    fgraph: FunctionGraph,
    node: Apply,
    thunk: Any = None,
    exc_info: Any = None,
    storage_map: dict[Variable, list[Any]] | None = None,
) -> NoReturn:
    """Raise the present exception again, with notes about the node that it comes from.

    Parameters
    ----------
    fgraph : FunctionGraph
        Graph.
    node : Apply
        Node that failed.
    thunk : callable, optional
        What ran it; its `inputs` are cells, whose values are described.
    exc_info : tuple, optional
        The exception, as `sys.exc_info` returns it; by default the one that is handled.
    storage_map : dict, optional
        Accepted; the values of the node's own inputs are in `thunk`.

    Notes
    -----
    The exception gets the attributes `__op_instance__` (the node), `__applynode_index__` (its position in the graph) and
    `__thunk_trace__` (the line that built it).
    """
    error: Any = (sys.exc_info() if exc_info is None else exc_info)[1]
    if isinstance(error, KeyboardInterrupt) or hasattr(error, "__op_instance__"):
        raise error
    order = fgraph.toposort()
    error.__op_instance__ = node
    error.__applynode_index__ = order.index(node) if node in order else None
    error.__thunk_trace__ = node.where
    notes = [
        f"Apply node that caused the error: {node}",
        f"  position      {error.__applynode_index__}",
        f"  input types   {[variable.type for variable in node.inputs]}",
    ]
    cells = getattr(thunk, "inputs", None)
    if cells is not None:
        notes.append(f"  input shapes  {_texts_of_values(cells, 'shape')}")
    if node.where:
        notes.append(f"  built at      {node.where}")
    if hasattr(error, "add_note"):  # from Python 3.11 on
        error.add_note("\n".join(notes))
    raise error


def register_thunk_trace_excepthook(handler: TextIO = sys.stdout) -> None:
    """Make uncaught exceptions of nodes also print the line that built the node.

    Parameters
    ----------
    handler : file, optional
        Where it is written.
    """
    before = sys.excepthook

    def hook(kind: Any, error: Any, trace: Any) -> None:
        before(kind, error, trace)
        where = getattr(error, "__thunk_trace__", None)
        if where:
            print(f"The node was built at {where}", file=handler)

    sys.excepthook = hook


def get_destroy_dependencies(fgraph: FunctionGraph) -> dict[Apply, list[Variable]]:
    """Find the variables that must be computed before a node that overwrites an input.

    Parameters
    ----------
    fgraph : FunctionGraph
        Graph.

    Returns
    -------
    dict
        For each node the outputs of the nodes that must run before it although it does not read them.
    """
    earlier: dict[Apply, list[Variable]] = defaultdict(list)
    for node, nodes in fgraph.orderings().items():
        for each in nodes:
            earlier[node].extend(each.outputs)
    return earlier


# ---- a graph as the text of a Python function ------------------------------------------------------------------------


def compile_function_src(
    src: str,
    function_name: str,
    global_env: dict[Any, Any] | None = None,
    local_env: dict[Any, Any] | None = None,
) -> Callable[..., Any]:
    """Compile the text of a Python function.

    Parameters
    ----------
    src : str
        Text, which defines the function.
    function_name : str
        Name of the function.
    global_env, local_env : dict, optional
        Names that it may use.

    Returns
    -------
    callable
        The function; its `__source__` is the text, which debuggers and tracebacks find too.

    Examples
    --------
    >>> from bitale.link.utils import compile_function_src
    >>> compile_function_src("def twice(x):\\n    return factor * x", "twice", {"factor": 2})(3)
    6
    """
    names = {} if local_env is None else local_env
    file = f"<bitale {function_name} {len(linecache.cache)}>"
    # Without a time of modification, the cache of lines keeps the text although there is no such file.
    linecache.cache[file] = (len(src), None, src.splitlines(keepends=True), file)
    exec(compile(src, file, "exec"), {} if global_env is None else global_env, names)
    function: Any = names[function_name]
    function.__source__ = src
    return function  # type: ignore[no-any-return]


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def _snake_case(text: str) -> str:
    return re.sub(r"(?<=.)(?=[A-Z])", "_", text).lower()


def get_name_for_object(x: Any) -> str:
    """Choose a Python name for an object: a variable's own if it is a valid one, else that of a function or of the class.

    Parameters
    ----------
    x : object
        Object.

    Returns
    -------
    str
        Name.

    Examples
    --------
    >>> from bitale.link.utils import get_name_for_object
    >>> get_name_for_object(pt.dscalar("rate of x")), get_name_for_object(pt.dscalar("def")), get_name_for_object(len)
    ('rate_of_x', 'tensor_variable', 'len')
    """
    if isinstance(x, Variable):
        name = re.sub("[^0-9a-zA-Z]+", "_", x.name or "")
        if _is_name(name) and not hasattr(builtins, name):
            return name
    else:
        name = _snake_case(getattr(x, "__name__", ""))
        if _is_name(name):
            return name
    return _snake_case(type(x).__name__)


def unique_name_generator(
    external_names: Iterable[str] | None = None, suffix_sep: str = "_"
) -> Callable[..., str]:
    """Make a function that gives each object a unique name.

    Parameters
    ----------
    external_names : iterable of str, optional
        Names that are taken.
    suffix_sep : str, optional
        Separator between a name and its number.

    Returns
    -------
    callable
        Function of an object; with `force_unique`, the object gets a new name.

    Examples
    --------
    >>> from bitale.link.utils import unique_name_generator
    >>> name = unique_name_generator(["x"])
    >>> x, y = pt.dscalar("x"), pt.dscalar("x")
    >>> name(x), name(y), name(x)
    ('x_1', 'x_2', 'x_1')
    """
    times: dict[str, int] = dict.fromkeys(external_names or (), 1)
    names: dict[Any, str] = {}

    def unique_name(x: Any, force_unique: bool = False) -> str:
        if x in names and not force_unique:
            return names[x]
        base = get_name_for_object(x)
        number = times.get(base, 0)
        times[base] = number + 1
        name = f"{base}{suffix_sep}{number}" if number else base
        if number:
            times[name] = times.get(name, 0) + 1
        names[x] = name
        return name

    return unique_name


def _unconverted(value: Any, **_: Any) -> Any:
    return value


def fgraph_to_python(
    fgraph: FunctionGraph,
    op_conversion_fn: Callable[..., Any],
    *,
    type_conversion_fn: Callable[..., Any] = _unconverted,
    order: Sequence[Apply] | None = None,
    storage_map: dict[Variable, list[Any]] | None = None,
    fgraph_name: str = "fgraph_to_python",
    global_env: dict[Any, Any] | None = None,
    local_env: dict[Any, Any] | None = None,
    get_name_for_object: Callable[[Any], str] = get_name_for_object,
    squeeze_output: bool = False,
    unique_name: Callable[..., str] | None = None,
    **kwargs: Any,
) -> Callable[..., Any]:
    """Write a graph as a Python function that calls a function for each node.

    Parameters
    ----------
    fgraph : FunctionGraph
        Graph.
    op_conversion_fn : callable
        ``op_conversion_fn(op, node=, storage_map=, **kwargs)`` returns the function of a node, from
        its inputs' values to its output or a sequence of outputs.
    type_conversion_fn : callable, optional
        ``type_conversion_fn(value, variable=, storage=, **kwargs)`` returns what a constant becomes, and a value that is
        in `storage_map` already.
    order : sequence of Apply, optional
        The nodes; by default as `fgraph.toposort`.
    storage_map : dict, optional
        Cells by variable, of values that are known.
    fgraph_name : str, optional
        Name of the function.
    global_env, local_env : dict, optional
        Names that it may use.
    get_name_for_object : callable, optional
        Accepted; names are chosen by `unique_name`.
    squeeze_output : bool, optional
        Whether a single output is returned alone, instead of as a tuple.
    unique_name : callable, optional
        Names objects; by default what `unique_name_generator` returns.
    **kwargs : object
        Passed on to the two functions.

    Returns
    -------
    callable
        Function of the values of the graph's inputs, which returns those of its outputs. Its text is `__source__`.

    See Also
    --------
    bitale.link.basic.JITLinker

    Examples
    --------
    >>> from bitale.link.utils import fgraph_to_python
    >>> x = pt.dvector("x")
    >>> f = fgraph_to_python(bt.FunctionGraph([x], [pt.exp(x).sum()]), lambda op, **_: getattr(np, op.name.split("{")[0].lower()))
    >>> f(np.zeros(3))
    (np.float64(3.0),)
    """
    names = unique_name or unique_name_generator([fgraph_name])
    kwargs["unique_name"] = names
    env = {} if global_env is None else global_env
    cells = {} if storage_map is None else storage_map
    known: set[Variable] = set()

    def name_of(variable: Variable) -> str:
        """The name of a value that is there when it is read. Those that are known now become names of the function's."""
        name = names(variable)
        if variable in known:
            return name
        cell = cells.setdefault(variable, [_known_value(variable)])
        if isinstance(variable, Constant) or cell[0] is not None:
            env[name] = type_conversion_fn(cell[0], variable=variable, storage=cell, **kwargs)
        known.add(variable)
        return name

    arguments = [names(variable) for variable in fgraph.inputs]
    lines = []
    for node in fgraph.toposort() if order is None else order:
        inputs = [name_of(variable) for variable in node.inputs]
        outputs = [names(variable) for variable in node.outputs]
        known.update(node.outputs)
        function = op_conversion_fn(node.op, node=node, storage_map=cells, **kwargs)
        name = names(function)
        env[name] = function
        lines += [f"# {line}" for line in str(node).splitlines()]
        lines.append(f"{', '.join(outputs)} = {name}({', '.join(inputs)})")
    results = [
        name_of(variable) if isinstance(variable, Constant) else names(variable)
        for variable in fgraph.outputs
    ]
    returned = ", ".join(results)
    if len(results) == 1 and not squeeze_output:
        returned = f"({returned},)"
    body = "\n".join(f"    {line}" for line in [*lines, f"return {returned or '()'}"])
    return compile_function_src(
        f"def {fgraph_name}({', '.join(arguments)}):\n{body}\n",
        fgraph_name,
        env,
        {} if local_env is None else local_env,
    )
