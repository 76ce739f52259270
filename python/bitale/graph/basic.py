"""The nodes of expression graphs, copies of them, and graphs as short texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bitale._geography import absent
from bitale import _core
from bitale._core import (
    Apply,
    Constant,
    Variable,
    ancestors,
    equal_computations,
    explicit_graph_inputs,
    graph_inputs,
    toposort,
)

__all__ = [
    "AbstractApply",
    "Apply",
    "AtomicVariable",
    "Constant",
    "Node",
    "Variable",
    "ancestors",
    "as_string",
    "clone",
    "clone_get_equiv",
    "clone_node_and_cache",
    "default_node_formatter",
    "equal_computations",
    "explicit_graph_inputs",
    "graph_inputs",
    "op_as_string",
    "toposort",
]

for _class in (Apply, Variable):
    _class.__module__ = __name__
del _class

AbstractApply = Apply


class _Kind(type):
    """The metaclass of classes that only say what others have in common."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return bool(vars(cls)["holds"](instance))


class Node(metaclass=_Kind):
    """Abstract base class of Apply nodes and variables."""

    holds = staticmethod(lambda each: isinstance(each, (Apply, Variable)))


class AtomicVariable(metaclass=_Kind):
    """Abstract base class of constants: leaves that are not inputs."""

    holds = staticmethod(lambda each: isinstance(each, Variable) and _core.is_constant(each))


def clone(
    inputs: Any,
    outputs: Any = None,
    copy_inputs: bool = True,
    copy_orphans: bool | None = None,
    clone_inner_graphs: bool = False,
    *,
    copy_leaves: bool = False,
) -> Any:
    """A copy of the graph from inputs to outputs: its inputs and outputs, as two lists.

    copy_inputs: whether the inputs are copied; copy_orphans: whether constants and other leaves
    are, by default as copy_inputs. clone_inner_graphs is accepted: graphs within ops never change.
    ``clone(outputs)``, without inputs, copies the outputs on the same leaves, or on new ones if copy_leaves.

    >>> x = pt.dscalar("x")
    >>> bt.graph.clone([x], [pt.exp(x)])
    ([x], [Exp.0])
    """
    if outputs is None:
        return _core.clone(inputs, copy_leaves)
    memo = clone_get_equiv(inputs, outputs, copy_inputs, copy_orphans)
    return [memo[v] for v in inputs], [memo[v] for v in outputs]


def clone_node_and_cache(node: Apply, clone_d: dict[Any, Any], **kwargs: Any) -> Apply:
    """A copy of a node, whose inputs are the copies in clone_d; the copies of the node and its outputs are added to clone_d."""
    made = node.clone_with_new_inputs([clone_d.get(v, v) for v in node.inputs])
    clone_d[node] = made
    for before, after in zip(node.outputs, made.outputs):
        after.name = before.name
        clone_d.setdefault(before, after)
    return made


def clone_get_equiv(
    inputs: Any,
    outputs: Any,
    copy_inputs: bool = True,
    copy_orphans: bool | None = None,
    memo: dict[Any, Any] | None = None,
    clone_inner_graphs: bool = False,
    **kwargs: Any,
) -> dict[Any, Any]:
    """The copy of each variable and node of the graph from inputs to outputs, as `clone` makes them.

    memo: copies that are there already, to which the others are added.
    """
    from bitale.graph.traversal import io_toposort

    if kwargs:
        raise TypeError(f"clone_get_equiv: no arguments called {sorted(kwargs)}")
    copies: dict[Any, Any] = {} if memo is None else memo

    def leaf(v: Any, is_copied: bool) -> None:
        if v not in copies:
            copies[v] = v.clone() if is_copied and not isinstance(v, Constant) else v

    for v in inputs:
        leaf(v, copy_inputs)
    for node in io_toposort(inputs, outputs):
        if node in copies:
            continue
        for v in node.inputs:
            if v.owner is None or v not in copies:
                leaf(v, copy_inputs if copy_orphans is None else copy_orphans)
        clone_node_and_cache(node, copies)
    for v in outputs:
        leaf(v, copy_inputs if copy_orphans is None else copy_orphans)
    return copies


def default_node_formatter(op: Any, argstrings: Sequence[str]) -> str:
    """An op and its arguments as text."""
    return f"{op}({', '.join(argstrings)})"


def op_as_string(
    i: Any,
    op: Apply,
    leaf_formatter: Callable[[Any], str] = str,
    node_formatter: Callable[..., str] = default_node_formatter,
) -> str:
    """The Apply node op as text, down to the variables i."""
    return node_formatter(op.op, as_string(i, op.inputs, leaf_formatter, node_formatter))


def as_string(
    inputs: Any,
    outputs: Any,
    leaf_formatter: Callable[[Any], str] = str,
    node_formatter: Callable[..., str] = default_node_formatter,
) -> list[str]:
    """The outputs as texts. What is read several times is written once, as ``*1 -> ...``, and then ``*1``.

    >>> x = pt.dscalar("x")
    >>> y = pt.exp(x)
    >>> bt.graph.basic.as_string([x], [y * y, pt.sin(y)])
    ['Mul(*1 -> Exp(x), *1)', 'Sin(*1)']
    """
    from bitale.graph.traversal import io_toposort

    given = set(inputs)
    readers: dict[Any, int] = {}
    for v in [*outputs, *(v for node in io_toposort(inputs, outputs) for v in node.inputs)]:
        if v.owner is not None and v not in given:
            readers[v.owner] = readers.get(v.owner, 0) + 1
    numbers: dict[Any, int] = {}
    texts: dict[Any, str] = {}

    # An explicit stack, because graphs may be deep: a variable is opened, and finished when the texts of its inputs are
    # known.
    def text_of(root: Any) -> str:
        out: list[str] = []
        stack: list[tuple[Any, list[str] | None, list[str]]] = [(root, None, out)]
        while stack:
            v, arguments, to = stack.pop()
            node = v.owner
            if node is None or v in given:
                to.append(leaf_formatter(v))
                continue
            suffix = f"::{v.index}" if node.nout > 1 else ""
            if arguments is None and node in texts:
                to.append(texts[node] + suffix)
                continue
            if arguments is None:
                if readers[node] > 1 and node not in numbers:
                    numbers[node] = len(numbers) + 1
                arguments = []
                stack.append((v, arguments, to))
                stack.extend((each, None, arguments) for each in reversed(node.inputs))
                continue
            text = node_formatter(node.op, arguments)
            if node in numbers:
                texts[node] = f"*{numbers[node]}"
                text = f"{texts[node]} -> {text}"
            to.append(text + suffix)
        return out[0]

    return [text_of(v) for v in outputs]


__getattr__ = absent(__name__)
