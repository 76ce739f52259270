"""Graphs that may be changed."""

from __future__ import annotations

from typing import Any

from bitale._core import Apply, FunctionGraph, Op, Variable

__all__ = ["FunctionGraph", "Output"]

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
    """From nodes to those that features want before them."""
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


for _member in (get_output_client, orderings, execute_callbacks, collect_callbacks):
    setattr(FunctionGraph, _member.__name__, _member)
for _name, _value in {"profile": None, "execute_callbacks_time": 0.0}.items():
    setattr(FunctionGraph, _name, _value)
del _member, _name, _value
