"""A node of PyTensor that runs its own `perform`, called back from the compiled function."""

from __future__ import annotations

import warnings
from typing import Any, Callable, Sequence

import pytensor.graph.op as _op
from pytensor.compile.mode import get_mode
from pytensor.gradient import DisconnectedType
from pytensor.graph.basic import Apply as PyTensorApply, Constant, Variable as PyTensorVariable
from pytensor.graph.null_type import NullType
from pytensor.scalar.basic import ScalarType
from pytensor.scan.op import Scan
from pytensor.tensor.random.type import RandomGeneratorType

import bitale as bt
from bitale._core import disconnected, is_disconnected
from bitale.graph import Apply, Op
from bitale.pytensor.types import converted_type, is_expressible

# Counterparts of PyTensor's variables, given those of others.
Convert = Callable[[dict[Any, Any], Sequence[Any]], list[Any]]

_NoPythonOp: Any = getattr(_op, "_NoPythonOp", None)  # not in PyTensor 2


def detached(node: PyTensorApply) -> PyTensorApply:
    """The node without what computes its inputs, so that it keeps no graph alive."""
    inputs = [x if isinstance(x, Constant) else x.type(name=x.name) for x in node.inputs]
    if hasattr(node, "clone_with_new_inputs"):
        return node.clone_with_new_inputs(inputs, strict=False)
    return PyTensorApply(
        node.op, inputs, [x.type(name=x.name) for x in node.outputs]
    )  # a frozen node of an inner graph


class Callback(Op):
    """The op of one PyTensor node. Nodes of equal ops and inputs' types are computed once."""

    __props__ = ("op", "fixed", "input_types", "output_types")
    _performs_as: Any = None  # what the C++ side calls instead of perform (python_op.cpp)

    def __init__(self, node: PyTensorApply, convert: Convert):
        self.node = detached(node)
        self._convert = convert
        self.op = node.op
        self.performing = _performing(node.op)
        self.fixed = tuple(x if _is_fixed(x) else None for x in node.inputs)
        self.input_types = tuple(x.type for x in node.inputs)
        self.output_types = tuple(x.type for x in node.outputs)
        self.has_lengths = any(n not in (None, 1) for t in self.output_types for n in _lengths(t))
        if (
            not any(isinstance(t, ScalarType) for t in self.input_types)
            and all(x is None for x in self.fixed)
            and not self.has_lengths
        ):
            self._performs_as = (self.performing.perform, self.node)

    def __str__(self) -> str:
        return f"pytensor.{self.op}"

    def make_node(self, *inputs: Any) -> Apply:
        return Apply(self, list(inputs), [_output_type(t, inputs)() for t in self.output_types])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        self.performing.perform(self.node, self._values(inputs), output_storage)
        if self.has_lengths:
            self._compare_lengths(output_storage)

    def _compare_lengths(self, output_storage: list[list[Any]]) -> None:
        """Warn of results that are not as long as their types say, with which PyTensor goes on."""
        for k, (type_, (value,)) in enumerate(zip(self.output_types, output_storage)):
            declared, found = _lengths(type_), getattr(value, "shape", ())
            if len(declared) == len(found) and any(
                n not in (None, 1, m) for n, m in zip(declared, found)
            ):
                warnings.warn(
                    f"bitale.pytensor: {self.op} declares {type_} as its output {k}, and gives the shape {found}",
                    stacklevel=2,
                )

    def pullback(
        self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]
    ) -> list[Any]:
        """By PyTensor's own for the op, which is converted. NotImplementedError where it has none."""
        own = [k for k, fixed in enumerate(self.fixed) if fixed is None]
        known = dict(zip([self.node.inputs[k] for k in own], inputs))
        found = converted_pullback(self.op, self.node, known, outputs, cotangents, self._convert)
        return [
            bt.gradient.grad_undefined(self, k, inputs[k], str(found[at].type))
            if isinstance(found[at], PyTensorVariable)
            else found[at]
            for k, at in enumerate(own)
        ]

    def _values(self, inputs: Sequence[Any]) -> list[Any]:
        given = iter(inputs)
        return [
            x.data if x is not None else _as_given(t, next(given))
            for x, t in zip(self.fixed, self.input_types)
        ]


def converted_pullback(
    op: Any,
    node: PyTensorApply,
    known: dict[Any, Any],
    outputs: Sequence[Any],
    cotangents: Sequence[Any],
    convert: Convert,
) -> list[Any]:
    """The cotangents of a node's inputs, by PyTensor's pullback of the op: a variable for each input, disconnected ones among them, and
    PyTensor's variable of NullType where a derivative does not exist. NotImplementedError where the op has none.

    known: the counterparts of the inputs. outputs, cotangents: counterparts of the outputs and of their cotangents.
    """
    given = [x.type() for x in node.outputs]
    found = getattr(op, "pullback", op.L_op)(node.inputs, node.outputs, given)
    all_known = {**known, **dict(zip(node.outputs, outputs))}
    all_known.update(
        (g, x.zeros_like() if is_disconnected(c) else c)
        for g, x, c in zip(given, outputs, cotangents)
    )
    wanted = [g for g, x in zip(found, node.inputs) if x in known]
    connected = [g for g in wanted if not isinstance(g.type, (DisconnectedType, NullType))]
    made = dict(zip(connected, convert(all_known, connected)))
    return [
        disconnected() if isinstance(g.type, DisconnectedType) else made.get(g, g) for g in found
    ]


def _output_type(type_: Any, inputs: Sequence[Any]) -> Any:
    """Generators that a node gives are of the kind that it takes."""
    generators = [
        x.type for x in inputs if isinstance(x.type, bt.tensor.random.RandomGeneratorType)
    ]
    if generators and isinstance(type_, RandomGeneratorType):
        return generators[0]
    converted = converted_type(type_)
    # Lengths other than 1 may be wrong, which PyTensor does not look at.
    return (
        bt.tensor.TensorType(converted.dtype, [n if n == 1 else None for n in converted.shape])
        if _lengths(type_)
        else converted
    )


def _lengths(type_: Any) -> tuple[int | None, ...]:
    return tuple(getattr(type_, "shape", None) or ())


def _performing(op: Any) -> Any:
    """The op whose `perform` is called: for a Scan a copy whose steps are a function of Bitale, rather than of PyTensor's C compiler."""
    if not isinstance(op, Scan):
        return op
    inner = op.fgraph.unfreeze()
    get_mode("BITALE").optimizer.rewrite(inner)
    copy = op.clone_with_inner_graph(inner)
    # Gradients that are accumulated in preallocated memory require PyTensor's own virtual machine.
    copy.mode = "FAST_COMPILE" if any(copy.mitmots_preallocated) else "BITALE"
    return copy


def _is_fixed(x: Any) -> bool:
    """Constants that are not arrays, such as None, slices and sparse matrices: they are a part of the op."""
    return isinstance(x, Constant) and not is_expressible(x.type)


def _as_given(type_: Any, value: Any) -> Any:
    return value[()] if isinstance(type_, ScalarType) else value


def callback(node: PyTensorApply, inputs: Sequence[Any], convert: Convert) -> list[Any]:
    """The node's outputs, by a host callback whose derivatives are converted by `convert`. TypeError where an input or output has no Bitale type."""
    if _NoPythonOp is not None and isinstance(node.op, _NoPythonOp):
        raise TypeError("it has no perform to call back")
    for x in (*node.inputs, *node.outputs):
        if not _is_fixed(x):
            converted_type(x.type)
    op = Callback(node, convert)
    made = op.make_node(*(value for value, x in zip(inputs, node.inputs) if not _is_fixed(x)))
    return list(made.outputs)
