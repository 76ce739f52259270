"""Graphs of scalars as one scalar op. Elementwise functions fuse by themselves when a function is compiled, so this is not needed for speed: it is for programs that have such graphs, and builds their expression on tensors.

>>> from bitale import scalar
>>> from bitale.tensor.elemwise import Elemwise
>>> x, y = scalar.floats("x", "y")
>>> squares = Elemwise(scalar.Composite([x, y], [x * x + y * y]))
>>> squares([3.0, 6.0], [4.0, 8.0]).eval()
array([ 25., 100.])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bitale._core import (
    TensorVariable,
    as_tensor_variable,
    broadcast_arrays,
    cast,
    clone_replace,
    equal_computations,
    vectorize_graph,
)
from bitale.graph.fg import FunctionGraph
from bitale.graph.traversal import explicit_graph_inputs
from bitale.scalar.classes import ScalarOp
from bitale.scalar.types import as_scalar

__all__ = ["Composite", "ScalarInnerGraphOp"]


class ScalarInnerGraphOp(ScalarOp):  # type: ignore[misc]
    """Abstract base class of scalar ops that are graphs of others."""


class Composite(ScalarInnerGraphOp):
    """The op that computes `outputs`, expressions of the scalars `inputs`. MissingInputError for outputs that depend on others.

    Elemwise(op) takes tensors, whose dtypes convert safely to those of the inputs (otherwise
    TypeError), and returns one result or a list.
    """

    def __init__(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        name: str = "Composite",
    ):
        super().__init__(name=name)
        from bitale._core import MissingInputError

        self.inputs, self.outputs = list(inputs), list(outputs)
        for each in (*self.inputs, *self.outputs):
            if not isinstance(each, TensorVariable) or each.ndim != 0:
                raise TypeError(f"Composite: expected scalars, got {each!r}")
        if not self.outputs or len(set(self.inputs)) != len(self.inputs):
            raise ValueError(
                "Composite: expected one output or more, and inputs that are all different"
            )
        for leaf in explicit_graph_inputs(self.outputs):
            if leaf not in self.inputs:
                raise MissingInputError(
                    f"Composite: the outputs depend on {leaf}, which is not among the inputs"
                )
        self.nin, self.nout = len(self.inputs), len(self.outputs)

    @property
    def fgraph(self) -> FunctionGraph:
        """The graph, on separate variables."""
        return FunctionGraph(self.inputs, self.outputs, clone=True)

    def output_types(self, types: Sequence[Any]) -> list[Any]:
        return [each.type for each in self.outputs]

    def impl(self, *inputs: Any) -> Any:
        values = [
            each.eval(dict(zip(self.inputs, inputs)), on_unused_input="ignore")
            for each in self.outputs
        ]
        return values[0] if self.nout == 1 else tuple(values)

    def __call__(self, *inputs: Any) -> Any:
        """The outputs of these scalars."""

        return self._applied([as_scalar(x) for x in inputs], False)

    def of_tensors(self, *inputs: Any) -> Any:
        """The outputs of each element; inputs are broadcast together."""
        return self._applied([as_tensor_variable(x) for x in inputs], True)

    def _applied(self, given: list[Any], of_tensors: bool) -> Any:
        if len(given) != self.nin:
            raise TypeError(f"{self}: expected {self.nin} inputs, got {len(given)}")
        for i, (x, wanted) in enumerate(zip(given, self.inputs)):
            if not np.can_cast(x.dtype, wanted.dtype):
                raise TypeError(
                    f"{self}: input {i}, {x} of dtype {x.dtype}, does not convert safely to {wanted.dtype}; pt.cast converts it"
                )
            given[i] = cast(x, wanted.dtype)
        if of_tensors and len(given) > 1:
            given = list(broadcast_arrays(*given))
        replacements = dict(zip(self.inputs, given))
        out = (
            vectorize_graph(self.outputs, replacements)
            if of_tensors
            else clone_replace(self.outputs, replacements)
        )
        return out[0] if self.nout == 1 else list(out)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Composite)
            and self.nin == other.nin
            and bool(
                self.nout == other.nout
                and equal_computations(self.outputs, other.outputs, self.inputs, other.inputs)
            )
        )

    def __hash__(self) -> int:
        return hash((Composite, tuple(x.dtype for x in (*self.inputs, *self.outputs))))
