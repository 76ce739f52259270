"""Graphs that may be changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bitale._core import Apply, FunctionGraph, Op, Variable, equal_computations, graph_replace

__all__ = ["AbstractFunctionGraph", "FrozenFunctionGraph", "FunctionGraph", "Output"]

FunctionGraph.__module__ = __name__


class Output(Op):
    """The op of the nodes that stand for outputs of a FunctionGraph among the clients of its variables. Nothing runs it."""

    __props__ = ("idx",)
    _is_output = True  # nodes of it have no outputs

    def __init__(self, idx: int):
        self.idx = idx

    def make_node(self, inp: Variable) -> Apply:
        return Apply(self, [inp], [])

    def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
        raise TypeError("Output: a node that stands for an output of a graph is not run")

    def __str__(self) -> str:
        return f"output[{self.idx}]"


def output_node(index: int, variable: Variable) -> Apply:
    """The node that stands for an output of a graph."""
    return Output(index).make_node(variable)


def get_output_client(self: FunctionGraph, i: int) -> tuple[Apply, int]:
    """The use of output i by the graph, as `get_clients` has it. LookupError where there is no such output."""
    outputs = self.outputs
    if not -len(outputs) <= i < len(outputs):
        raise LookupError(f"get_output_client: there is no output {i} of {len(outputs)}")
    return output_node(i % len(outputs), outputs[i]), 0


def orderings(self: FunctionGraph) -> dict[Apply, list[Apply]]:
    """From nodes to those that features require before them."""
    found: dict[Apply, list[Apply]] = {}
    for feature in self.features:
        for node, before in dict(feature.orderings(self)).items():
            found.setdefault(node, []).extend(before)
    return found


def execute_callbacks(self: FunctionGraph, name: str, *args: Any, **kwargs: Any) -> None:
    """Call a method of each feature, with the graph and the arguments."""
    for feature in self.features:
        method = getattr(feature, name, None)
        if method is not None:
            method(self, *args, **kwargs)


def collect_callbacks(self: FunctionGraph, name: str, *args: Any) -> dict[Any, Any]:
    """Call a method of each feature with the arguments, and return the results by feature."""
    return {
        feature: getattr(feature, name)(*args)
        for feature in self.features
        if hasattr(feature, name)
    }


class FrozenFunctionGraph:
    """A graph that never changes: two are equal if they compute the same from their inputs, and can be keys of dicts."""

    def __init__(self, graph: FunctionGraph):
        self._graph = graph.clone_get_equiv(attach_feature=False)[0]

    @classmethod
    def from_io(
        cls, inputs: Sequence[Variable], outputs: Sequence[Variable], dedup_nodes: bool = False
    ) -> FrozenFunctionGraph:
        """Make one from inputs and outputs. dedup_nodes is accepted: equal nodes are always one."""
        return cls(FunctionGraph(list(inputs), list(outputs)))

    @property
    def inputs(self) -> tuple[Variable, ...]:
        return tuple(self._graph.inputs)

    @property
    def outputs(self) -> tuple[Variable, ...]:
        return tuple(self._graph.outputs)

    @property
    def apply_nodes(self) -> frozenset[Apply]:
        return frozenset(self._graph.apply_nodes)

    @property
    def variables(self) -> frozenset[Variable]:
        return frozenset(self._graph.variables)

    @property
    def clients(self) -> dict[Variable, list[Any]]:
        return self._graph.clients

    def toposort(self) -> list[Apply]:
        """The nodes, each after those it depends on."""
        return self._graph.toposort()

    def bind(
        self, replace: dict[Variable, Variable] | Sequence[Variable], return_memo: bool = False
    ) -> Any:
        """The outputs as expressions of other variables in place of the inputs; with return_memo, also the dict that was used."""
        memo = dict(replace) if isinstance(replace, dict) else dict(zip(self.inputs, replace))
        found = graph_replace(list(self.outputs), memo, strict=False)
        return (found, memo) if return_memo else found

    def unfreeze(self, return_memo: bool = False) -> Any:
        """A FunctionGraph of the same; with return_memo, also the dict from variables to their copies."""
        graph, memo = self._graph.clone_get_equiv()
        return (graph, memo) if return_memo else graph

    def clone(self) -> FrozenFunctionGraph:
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FrozenFunctionGraph):
            return NotImplemented
        if len(self.inputs) != len(other.inputs) or len(self.outputs) != len(other.outputs):
            return False
        if [each.type for each in self.inputs] != [each.type for each in other.inputs]:
            return False
        return equal_computations(
            list(self.outputs), list(other.outputs), list(self.inputs), list(other.inputs)
        )

    def __hash__(self) -> int:
        types = tuple(each.type for each in (*self.inputs, *self.outputs))
        return hash((types, tuple(sorted(hash(node.op) for node in self.apply_nodes))))

    def __contains__(self, item: object) -> bool:
        return item in self._graph

    def __reduce__(self) -> Any:
        return type(self), (self._graph,)

    def __repr__(self) -> str:
        return f"Frozen{self._graph!r}"


class _IsGraph(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, (FunctionGraph, FrozenFunctionGraph))


class AbstractFunctionGraph(metaclass=_IsGraph):
    """Abstract base class of both kinds of graphs."""


def freeze(self: FunctionGraph) -> FrozenFunctionGraph:
    """The graph as it is now, as one that never changes.

    >>> x = pt.dvector("x")
    >>> bt.FunctionGraph([x], [pt.exp(x)]).freeze() == bt.FunctionGraph([x], [pt.exp(x)]).freeze()
    True
    """
    return FrozenFunctionGraph(self)


def import_var(
    self: FunctionGraph, var: Variable, reason: str | None = None, import_missing: bool = False
) -> None:
    """NotImplementedError: nodes belong to a graph if an output needs them."""
    raise NotImplementedError(
        "FunctionGraph.import_var: nodes belong to a graph if an output needs them; use add_output, replace or add_input"
    )


def import_node(
    self: FunctionGraph,
    apply_node: Apply,
    check: bool = True,
    reason: str | None = None,
    import_missing: bool = False,
) -> None:
    """NotImplementedError: nodes belong to a graph if an output needs them."""
    import_var(self, apply_node.outputs[0])


def add_client(self: FunctionGraph, var: Variable, new_client: tuple[Apply, int]) -> None:
    """NotImplementedError: clients follow from the nodes' inputs."""
    raise NotImplementedError(
        "FunctionGraph.add_client: clients follow from the nodes' inputs; use change_node_input or replace"
    )


def remove_client(
    self: FunctionGraph,
    var: Variable,
    client_to_remove: tuple[Apply, int],
    reason: str | None = None,
    remove_if_empty: bool = False,
) -> None:
    """NotImplementedError: clients follow from the nodes' inputs."""
    raise NotImplementedError(
        "FunctionGraph.remove_client: clients follow from the nodes' inputs; use change_node_input, remove_output or "
        "remove_node"
    )


for _member in (
    get_output_client, orderings, execute_callbacks, collect_callbacks, freeze, import_var, import_node, add_client,
    remove_client,
):  # fmt: skip
    setattr(FunctionGraph, _member.__name__, _member)
for _name, _value in {"profile": None, "execute_callbacks_time": 0.0}.items():
    setattr(FunctionGraph, _name, _value)
del _member, _name, _value
