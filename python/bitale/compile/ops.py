"""Ops made from functions, and ops that return their input, under PyTensor's names."""

from __future__ import annotations

import copy
from typing import Any, Callable

from bitale._core import Apply, Variable
from bitale._geography import finder
from bitale.graph.op import FromFunctionOp, Op, as_op, wrap_py

__all__ = [
    "DeepCopyOp",
    "FromFunctionOp",
    "TypeCastingOp",
    "ViewOp",
    "as_op",
    "deep_copy_op",
    "view_op",
    "wrap_py",
]


class TypeCastingOp(Op):
    """The base of ops whose output is their input, perhaps of another type."""

    view_map = {0: [0]}

    def make_node(self, x: Any) -> Apply:
        return Apply(self, [x], [x.type()])

    def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0]

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Any) -> Any:
        return input_shapes

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        return cotangents

    def pushforward(self, inputs: Any, outputs: Any, tangents: Any) -> Any:
        return tangents

    def __str__(self) -> str:
        return type(self).__name__


class ViewOp(TypeCastingOp):
    """Its input: ``view_op(x)`` is another variable with the value of x. Compiled functions leave it out."""

    __props__ = ()

    def emit(self, node: Apply, x: Variable) -> Variable:
        return x


class DeepCopyOp(TypeCastingOp):
    """A copy of its input. Functions copy what they return, so compiled ones leave it out."""

    __props__ = ()
    view_map: Any = {}

    def emit(self, node: Apply, x: Variable) -> Variable:
        return x

    def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = copy.deepcopy(inputs[0])


view_op, deep_copy_op = ViewOp(), DeepCopyOp()


def load_back(mod: str, name: str) -> Callable[..., Any]:
    """Find the op that a module has under a name: what pickles of PyTensor's call for ops made from functions."""
    import importlib

    return getattr(importlib.import_module(mod), name)  # type: ignore[no-any-return]


__getattr__ = finder(__name__, "compile")
