"""PyTensor's labelled tensors (pytensor.xtensor): each of their ops as the ops of tensors that PyTensor itself lowers it to.

Imported when a graph has such an op, since most graphs have none and importing pytensor.xtensor takes time."""

from __future__ import annotations

from typing import Any

from pytensor.compile.mode import optdb
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.db import RewriteDatabaseQuery
from pytensor.tensor.type_other import SliceType
from pytensor.xtensor.basic import Rename, TensorFromXTensor, XOp, XTensorFromTensor

from bitale.pytensor.conversion import with_conversion
from bitale.pytensor.registry import NotConverted, converts


@converts(TensorFromXTensor, XTensorFromTensor, Rename)
def _names_alone(op: Any, node: Any, x: Any) -> Any:
    return x


def _is_constant(variable: Variable) -> bool:
    """Whether it is a constant, or one in other types and dimensions."""
    while variable.owner is not None and len(variable.owner.inputs) == 1:
        (variable,) = variable.owner.inputs
    return isinstance(variable, Constant)


@converts(XOp)
@with_conversion
def _lowered(conversion: Any, op: Any, node: Any, *inputs: Any) -> list[Any]:
    """The node by itself, on inputs of the same types, is lowered and converted."""
    leaves: list[Variable] = []
    values: list[Any] = []

    def stand_in(variable: Variable, value: Any) -> Variable:
        if _is_constant(variable):  # converters look into constants
            return variable
        if (
            isinstance(variable.type, SliceType) and variable.owner is not None
        ):  # of scalars, which the lowering looks into
            parts = [stand_in(each, conversion.counterpart(each)) for each in variable.owner.inputs]
            return variable.owner.op.make_node(*parts).outputs[0]
        leaves.append(variable.type())
        values.append(value)
        return leaves[-1]

    alone = op.make_node(
        *(stand_in(variable, value) for variable, value in zip(node.inputs, inputs))
    )
    graph = FunctionGraph(leaves, alone.outputs, clone=False)
    optdb.query(RewriteDatabaseQuery(include=["lower_xtensor"])).rewrite(graph)
    if any(type(each.op) is type(op) for each in graph.toposort()):
        raise NotConverted("PyTensor does not lower it")
    found: list[Any] = conversion.inner(graph, values)
    return found
