"""Your own scalar functions in Python: a subclass of ScalarOp defines the function of one element as `impl`, and Elemwise of it is an op of tensors. Prefer existing functions where they suffice: an expression compiles to one loop, whereas this calls Python for each element.

>>> from bitale import scalar
>>> from bitale.tensor.elemwise import Elemwise
>>> class Collatz(scalar.UnaryScalarOp):
...     def impl(self, n):
...         return n // 2 if n % 2 == 0 else 3 * n + 1
>>> collatz = Elemwise(Collatz(scalar.same_out, name="collatz"))
>>> collatz(pt.constant([6, 3])).eval()
array([ 3, 10], dtype=int8)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bitale._core import TensorType, as_tensor_variable, broadcast_arrays
from bitale.graph.basic import Apply
from bitale.graph.op import Op
from bitale.scalar.types import as_scalar
from bitale.tensor.utils import import_func_from_string

__all__ = ["ElemwiseOfUser", "UserScalarOp"]


class UserScalarOp:
    """What a subclass of ScalarOp inherits.

    impl(*inputs): the result of numbers, or a tuple of nout results. output_types_preference(*types): the types of the results; a
    class may have output_types(types) instead. nfunc_spec: (name of a function of arrays such as "scipy.special.expit", nin, nout),
    which is called in place of impl. grad(inputs, output_gradients), L_op or pullback(inputs, outputs, cotangents): expressions for
    the derivatives, of tensors like the inputs. nin: how many inputs there are, -1: any number.
    """

    nin, nout = -1, 1
    nfunc_spec: Any = None

    def __init__(
        self, output_types_preference: Callable[..., Any] | None = None, name: str | None = None
    ):
        if output_types_preference is not None and not callable(output_types_preference):
            raise TypeError(
                f"{type(self).__name__}: expected a rule such as scalar.upgrade_to_float, got {output_types_preference!r}"
            )
        self.output_types_preference = output_types_preference
        self.name = name

    def impl(self, *inputs: Any) -> Any:
        raise NotImplementedError(
            f"{type(self).__name__} has no impl: nothing computes its results"
        )

    def output_types(self, types: Sequence[Any]) -> Sequence[Any]:
        """The types of the results."""
        rule = self.__dict__.get("output_types_preference")
        if rule is None:
            raise NotImplementedError(
                f"{type(self).__name__} has neither output_types_preference nor output_types"
            )
        return list(rule(*types))

    def __call__(self, *inputs: Any) -> Any:
        """The function of scalars; Elemwise(op) is the one of tensors."""
        return ElemwiseOfUser(self)(*(as_scalar(x) for x in inputs))

    def as_elemwise(self, name: str | None = None, nfunc_spec: Any = None) -> ElemwiseOfUser:
        """Return the op of tensors that applies this one to each element, for Elemwise(op)."""
        return ElemwiseOfUser(self, name, nfunc_spec)

    def _key(self) -> tuple[Any, ...]:
        props = tuple(getattr(self, name) for name in getattr(type(self), "__props__", ()))
        return type(self), self.__dict__.get("output_types_preference"), props

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UserScalarOp) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        return self.__dict__.get("name") or type(self).__name__

    __repr__ = __str__


class ElemwiseOfUser(Op):
    """Your own scalar function on each element; arguments are broadcast together."""

    __props__ = ("scalar_op",)

    def __init__(self, scalar_op: UserScalarOp, name: str | None = None, nfunc_spec: Any = None):
        self.scalar_op = scalar_op
        self._label = name or f"Elemwise{{{scalar_op}}}"
        spec = nfunc_spec or scalar_op.nfunc_spec
        self._of_arrays = import_func_from_string(spec[0]) if spec else None
        if spec and self._of_arrays is None:
            raise ValueError(
                f"{scalar_op}: there is no function {spec[0]!r}, which its nfunc_spec names"
            )

    def __str__(self) -> str:
        return self._label

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        """The result for inputs that are broadcast together."""
        given = [as_tensor_variable(x) for x in inputs]
        count = self.scalar_op.nin
        if not given or (count >= 0 and len(given) != count):
            raise TypeError(
                f"{self.scalar_op}: expected {count if count >= 0 else 'one or more'} inputs, got {len(given)}"
            )
        return super().__call__(*(broadcast_arrays(*given) if len(given) > 1 else given), **options)

    def make_node(self, *inputs: Any) -> Apply:
        given = [as_tensor_variable(x) for x in inputs]
        types = list(self.scalar_op.output_types([TensorType(x.dtype, ()) for x in given]))
        if len(types) != self.scalar_op.nout:
            raise ValueError(
                f"{self.scalar_op}: {len(types)} types for {self.scalar_op.nout} results"
            )
        shape = max((x.type.shape for x in given), key=len)
        return Apply(self, given, [TensorType(t.dtype, shape)() for t in types])

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        return [max(input_shapes, key=len)] * node.nout

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        function = self._of_arrays or np.frompyfunc(self.scalar_op.impl, len(inputs), node.nout)
        results = function(*inputs)
        results = results if isinstance(results, tuple) else (results,)
        if len(results) != node.nout:
            raise ValueError(f"{self.scalar_op}: {len(results)} results, expected {node.nout}")
        for cell, value, out in zip(output_storage, results, node.outputs):
            cell[0] = np.array(value, dtype=out.dtype)

    def pullback(
        self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]
    ) -> list[Any]:
        op = self.scalar_op
        for name in ("pullback", "L_op"):
            if hasattr(op, name):
                return list(getattr(op, name)(inputs, outputs, cotangents))
        if hasattr(op, "grad"):
            return list(op.grad(inputs, cotangents))
        raise NotImplementedError(
            f"{op} has no derivative: a ScalarOp defines it by grad, L_op or pullback"
        )

    def vectorize(self, node: Apply, *batched: Any) -> Any:
        return self(*batched)


ElemwiseOfOwn, OwnScalarOp = ElemwiseOfUser, UserScalarOp  # their names in pickles of Bitale 0.1
