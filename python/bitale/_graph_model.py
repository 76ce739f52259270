"""Graphs as records and as trees of plain objects, for your own renderers: what `debugprint` goes through, in its order. Names
and fields are those of pytensor.printing."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from bitale import _core
from bitale._core import Apply, Variable

__all__ = [
    "GraphModel",
    "GraphModelNode",
    "GraphNode",
    "build_graph_model",
    "char_from_number",
    "iter_graph_nodes",
]


def char_from_number(number: int) -> str:
    """Write the number of a node in letters.

    Parameters
    ----------
    number : int
        Number of the node.

    Returns
    -------
    str
        A for 0, Z for 25, BA for 26.

    Examples
    --------
    >>> bt.printing.char_from_number(27)
    'BB'
    """
    text = ""
    while True:
        number, digit = divmod(number, 26)
        text = chr(ord("A") + digit) + text
        if not number:
            return text


class _Levels(Sequence[bool]):
    """For each level above a record, whether it is the last operand there. Records share the levels that they have in
    common, so that those of a deep graph take no more memory than its nodes."""

    def __init__(self, above: _Levels | None = None, last: bool = False):
        self._above, self._last = above, last
        self._count: int = 0 if above is None else above._count + 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[bool]:
        out, each = [], self
        while each._above is not None:
            out.append(each._last)
            each = each._above
        return reversed(out)

    def __getitem__(self, index: Any) -> Any:
        return list(self)[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (list, _Levels)) and list(self) == list(other)

    def __repr__(self) -> str:
        return repr(list(self))


@dataclasses.dataclass
class GraphNode:
    """Where a walk over a graph meets a variable.

    Parameters
    ----------
    var : Variable
        Variable.
    is_repeat : bool
        Whether this stands for operands that are left out, below a variable
        that was met before or where the walk stops.
    is_already_done : bool
        Whether the variable was met before.
    is_last_child : bool
        Whether it is the last operand of its node.
    ancestor_is_last : sequence of bool
        The same of the variables above, from the root.
    parent_node : Apply, optional
        Node of which it is an operand.
    inner_to_outer : dict, optional
        Variables outside of an inner graph, by those inside.
    inner_graph_node : Apply, optional
        Node whose inner graph this is.
    is_inner_graph_header : bool
        Whether it stands for a node whose inner graphs follow.
    topo_order : sequence of Apply, optional
        Order of the nodes of the graph.
    profile : object, optional
        Times of the nodes.
    storage_map : dict, optional
        Values of variables.
    key : str
        Identifier of the variable, in the order of the walk.
    owner_key : str, optional
        Identifier of its node.
    """

    var: Variable
    is_repeat: bool
    is_already_done: bool
    is_last_child: bool
    ancestor_is_last: Sequence[bool]
    parent_node: Apply | None
    inner_to_outer: dict[Variable, Variable] | None
    inner_graph_node: Apply | None
    is_inner_graph_header: bool
    topo_order: Sequence[Apply] | None
    profile: Any
    storage_map: Any
    key: str | None = None
    owner_key: str | None = None

    @property
    def node(self) -> Apply | None:
        """The node that computes the variable."""
        return self.var.owner

    @property
    def is_leaf(self) -> bool:
        """Whether nothing computes it."""
        return self.var.owner is None

    @property
    def output_idx(self) -> str:
        """Which of several outputs it is: ".1"."""
        node = self.var.owner
        return "" if node is None or len(node.outputs) == 1 else f".{self.var.index}"


def iter_graph_nodes(
    var: Variable,
    depth: int = -1,
    done: dict[Any, str] | None = None,
    stop_on_name: bool = False,
    inner_graph_ops: list[Variable] | None = None,
    inner_to_outer: dict[Variable, Variable] | None = None,
    topo_order: Sequence[Apply] | None = None,
    profile: Any = None,
    storage_map: Any = None,
    parent_node: Apply | None = None,
    inner_graph_node: Apply | None = None,
    is_inner_graph_header: bool = False,
    ancestor_is_last: Sequence[bool] | None = None,
    is_last_child: bool = True,
    node_keys: dict[Variable, str] | None = None,
    owner_keys: dict[Any, str] | None = None,
    _current_depth: int = 0,
) -> Iterator[GraphNode]:
    """Walk over a graph from a variable to its operands, and go into each node once.

    Parameters
    ----------
    var : Variable
        Root.
    depth : int
        Number of levels; -1 for all.
    done : dict, optional
        What was met before, shared by several walks.
    stop_on_name : bool
        Do not follow variables that have a name.
    inner_graph_ops : list of Variable, optional
        Takes the variables whose ops have an inner graph.
    inner_to_outer, topo_order, profile, storage_map, parent_node, inner_graph_node, is_inner_graph_header : optional
        Fields of the records.
    ancestor_is_last, is_last_child : sequence of bool, bool
        Fields of the first record.
    node_keys, owner_keys : dict, optional
        Identifiers of variables and nodes, shared by several walks.
    _current_depth : int
        Level of the root.

    Yields
    ------
    GraphNode
        Each place where the walk meets a variable, a node before its operands.

    See Also
    --------
    build_graph_model

    Examples
    --------
    >>> x = pt.dscalar("x")
    >>> [(each.key, str(each.var)) for each in bt.printing.iter_graph_nodes(pt.exp(x) + x)]
    [('n0', 'Add.0'), ('n1', 'Exp.0'), ('n2', 'x'), ('n2', 'x')]
    """
    done = {} if done is None else done
    node_keys = {} if node_keys is None else node_keys
    owner_keys = {} if owner_keys is None else owner_keys
    # What is to be met: the variable, the node above, whether it is the last operand, and the same of those above.
    levels = _Levels()
    for each_is_last in ancestor_is_last or ():
        levels = _Levels(levels, each_is_last)
    open_: list[tuple[Variable, Apply | None, bool, _Levels]] = [
        (var, parent_node, is_last_child, levels)
    ]
    start = len(levels)
    while open_:
        each, above, is_last, before = open_.pop()
        if depth != -1 and len(before) - start + _current_depth >= depth:
            continue
        is_root = each is var and len(before) == start
        node = each.owner
        met = (each if node is None else node) in done
        done[each if node is None else node] = ""
        key = node_keys.setdefault(each, f"n{len(node_keys)}")
        owner_key = None if node is None else owner_keys.setdefault(node, f"a{len(owner_keys)}")
        is_header = is_inner_graph_header and is_root
        if node is not None and inner_graph_ops is not None and not is_header:
            if _core.inner_graph_of(node.op) is not None and each not in inner_graph_ops:
                inner_graph_ops.append(each)
        record = GraphNode(
            each, False, met and not is_header, is_last, before, above, inner_to_outer, inner_graph_node,
            is_header, topo_order, profile, storage_map, key, owner_key,
        )  # fmt: skip
        yield record
        if node is None or is_header and met:
            continue
        below = _Levels(before, is_last)
        if met or (stop_on_name and each.name):
            yield dataclasses.replace(
                record,
                is_repeat=True,
                is_already_done=False,
                is_last_child=True,
                ancestor_is_last=below,
                parent_node=node,
            )
            continue
        last = len(node.inputs) - 1
        open_ += [(x, node, i == last, below) for i, x in reversed(list(enumerate(node.inputs)))]


@dataclasses.dataclass
class GraphModelNode:
    """A variable in a tree.

    Parameters
    ----------
    label : str
        What `debugprint` writes for it.
    key : str
        Identifier of the variable.
    kind : str
        "leaf", "node", or "branch", which has the outputs of an inner graph.
    is_reference : bool
        Whether it occurs before, so that its operands are left out here.
    meta : dict
        Name, type, dtype, shape, op and the like.
    children : list of GraphModelNode
        Operands.
    """

    label: str
    key: str
    kind: str
    is_reference: bool = False
    meta: dict[str, Any] = dataclasses.field(default_factory=dict)
    children: list[GraphModelNode] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class GraphModel:
    """Graphs as trees.

    Parameters
    ----------
    roots : list of GraphModelNode
        Tree of each output.
    inner_graphs : list of GraphModelNode
        For each node with an inner graph the trees of that graph's outputs;
        ``meta["outer_node"]`` is the node's key.
    """

    roots: list[GraphModelNode]
    inner_graphs: list[GraphModelNode]

    def flattened(self) -> dict[str, dict[str, Any]]:
        """Each variable of the roots once, by its key, as a dict with the keys of its operands."""
        out: dict[str, dict[str, Any]] = {}
        open_ = self.roots[::-1]
        while open_:
            each = open_.pop()
            if each.key not in out:
                entry = {"label": each.label, "key": each.key, "kind": each.kind, **each.meta}
                if each.is_reference:
                    entry["reference"] = True
                out[each.key] = {**entry, "children": [child.key for child in each.children]}
            open_ += each.children[::-1]
        return out


def _meta(record: GraphNode) -> dict[str, Any]:
    var = record.var
    out: dict[str, Any] = {
        "name": var.name,
        "type": str(var.type),
        "dtype": getattr(var.type, "dtype", None),
        "output_idx": int(record.output_idx[1:] or 0),
    }
    if hasattr(var.type, "shape"):
        out["shape"] = list(var.type.shape)
    if var.owner is not None:
        op = var.owner.op
        out |= {"op": str(op), "op_type": type(op).__name__, "owner_key": record.owner_key}
    return out


def build_graph_model(
    graph_like: Any,
    depth: int = -1,
    id_type: str = "CHAR",
    print_type: bool = False,
    print_shape: bool = False,
    print_destroy_map: bool = False,
    print_view_map: bool = False,
    print_op_info: bool = False,
    stop_on_name: bool = False,
    with_meta: bool = True,
    node_keys: dict[Variable, str] | None = None,
    owner_keys: dict[Any, str] | None = None,
    topo_orders: Sequence[Any] | None = None,
    storage_maps: Sequence[Any] | None = None,
    assumption_tags: Any = None,
) -> GraphModel:
    """Make trees of graphs, for your own renderers.

    Parameters
    ----------
    graph_like : Variable, Apply or sequence of these
        Graphs.
    depth, id_type : int, str
        As in `debugprint`, which writes the labels.
    print_type, print_shape, print_destroy_map, print_view_map, print_op_info, stop_on_name : bool
        As in `debugprint`.
    with_meta : bool
        Fill `meta`.
    node_keys, owner_keys : dict, optional
        Identifiers of variables and nodes, shared by several calls, so that
        the same variable has the same one in all.
    topo_orders, storage_maps : sequence, optional
        Fields of the records of each graph.
    assumption_tags : optional
        Only None: `debugprint` has print_assumptions.

    Returns
    -------
    GraphModel
        Trees of the outputs and of inner graphs.

    Raises
    ------
    TypeError
        For anything that is neither a variable nor a node.
    ValueError
        If there are not as many orders as outputs.

    See Also
    --------
    iter_graph_nodes

    Examples
    --------
    >>> x = pt.dscalar("x")
    >>> model = bt.printing.build_graph_model(pt.exp(x) + x, id_type="")
    >>> [child.label for child in model.roots[0].children]
    ['Exp', 'x']
    >>> {key: each["children"] for key, each in model.flattened().items()}
    {'n0': ['n1', 'n2'], 'n1': ['n2'], 'n2': []}
    """
    if assumption_tags is not None:
        raise NotImplementedError(
            "build_graph_model: assumption_tags: facts are printed by debugprint(print_assumptions=True)"
        )
    given = [graph_like] if isinstance(graph_like, (Variable, Apply)) else list(graph_like)
    outputs: list[Variable] = []
    for each in given:
        if not isinstance(each, (Variable, Apply)):
            raise TypeError(
                f"build_graph_model: expected variables and nodes, got one of {type(each)}"
            )
        outputs += each.outputs if isinstance(each, Apply) else [each]
    orders = [None] * len(outputs) if topo_orders is None else list(topo_orders)
    storage = [None] * len(outputs) if storage_maps is None else list(storage_maps)
    if not len(orders) == len(storage) == len(outputs):
        raise ValueError(
            f"build_graph_model: {len(outputs)} outputs, but {len(orders)} orders and {len(storage)} maps"
        )
    keys: dict[Variable, str] = {} if node_keys is None else node_keys
    owners: dict[Any, str] = {} if owner_keys is None else owner_keys
    done: dict[Any, str] = {}
    ids: dict[Any, int] = {}
    with_graphs: list[Variable] = []

    def label(var: Variable) -> str:
        is_counted = id_type in ("CHAR", "int")
        text: str = _core.dprint_text(
            var, depth=1, id_type="int" if is_counted else id_type, print_type=print_type, print_shape=print_shape,
            print_destroy_map=print_destroy_map, print_view_map=print_view_map,
            print_op_info=print_op_info, print_inner_graphs=False,
        )  # fmt: skip
        line = text.split("\n", 1)[0]
        if not is_counted:
            return line
        number = ids.setdefault(var if var.owner is None else var.owner, len(ids))
        own = char_from_number(number) if id_type == "CHAR" else number
        return line.replace(
            "[id 0]", f"[id {own}]", 1
        )  # the only node of a text of its own is the first

    def tree(root: Variable, **fields: Any) -> GraphModelNode:
        top = GraphModelNode("", "", "root")
        above = [top]  # the last one of each level
        for record in iter_graph_nodes(
            root, depth, done, stop_on_name, with_graphs, node_keys=keys, owner_keys=owners, **fields
        ):  # fmt: skip
            if record.is_repeat:
                continue
            made = GraphModelNode(
                label(record.var),
                str(record.key),
                "leaf" if record.is_leaf else "node",
                record.is_already_done,
                _meta(record) if with_meta else {},
            )
            level = len(record.ancestor_is_last)
            above[level].children.append(made)
            above[level + 1 :] = [made]
        return top.children[0]

    roots = [
        tree(each, topo_order=order, storage_map=values)
        for each, order, values in zip(outputs, orders, storage)
    ]
    inner: list[GraphModelNode] = []
    met: set[Apply] = set()
    for var in with_graphs:  # which grows by those in inner graphs
        node = var.owner
        if node is None or node in met:
            continue
        met.add(node)
        header = GraphModelNode(label(var), keys[var], "node", meta={"outer_node": keys[var]})
        inner_inputs, inner_outputs = _core.inner_graph_of(node.op)
        inside = dict(zip(inner_inputs, node.inputs))
        header.children = [
            tree(x, inner_to_outer=inside, parent_node=node, inner_graph_node=node)
            for x in inner_outputs
        ]
        inner.append(header)
    return GraphModel(roots, inner)
