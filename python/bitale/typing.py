"""Names for annotations: what functions of bitale.tensor accept and return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Mapping, Sequence, TypeVar, Union

import numpy as np
import numpy.typing as npt

from bitale._core import (
    Apply,
    Function,
    FunctionGraph,
    Op,
    TensorConstant,
    TensorSharedVariable,
    TensorType,
    TensorVariable,
    Type,
    Variable,
)

ArrayLike = npt.ArrayLike
DTypeLike = Union[npt.DTypeLike, None]
# The arguments that as_tensor_variable accepts: variables, arrays, numbers, and sequences of these.
TensorLike = Union[Variable, npt.ArrayLike, Sequence["TensorLike"]]
# What stands for one tensor where a function of tensors takes it.
Operand = Union[TensorVariable, npt.ArrayLike]
Axis = Union[int, Sequence[int], None]
# Lengths, known or symbolic, as a sequence or as one vector.
ShapeLike = Union[int, Variable, Sequence[Union[int, np.integer, Variable]]]
# The lengths of a type: None where one is unknown.
StaticShape = tuple[Union[int, None], ...]
# Shared variables, and the expressions whose values they get after a call.
SharedUpdates = dict[Variable, Variable]
Updates = Union[Mapping[Variable, Any], Sequence[tuple[Variable, Any]]]

Result = TypeVar("Result", covariant=True)

if TYPE_CHECKING:

    class FunctionOf(Function, Generic[Result]):
        """A compiled function, by what a call returns: an array, a list or dict of arrays, or None."""

        def __call__(self, /, *inputs: Any, **named: Any) -> Result: ...

else:

    class FunctionOf:
        """A compiled function, by what a call returns, in annotations: ``FunctionOf[NDArray]``. It is a Function."""

        def __class_getitem__(cls, result):
            return Function


__all__ = [
    "Apply",
    "ArrayLike",
    "Axis",
    "DTypeLike",
    "Function",
    "FunctionGraph",
    "FunctionOf",
    "Op",
    "Operand",
    "ShapeLike",
    "SharedUpdates",
    "StaticShape",
    "TensorConstant",
    "TensorLike",
    "TensorSharedVariable",
    "TensorType",
    "TensorVariable",
    "Type",
    "Updates",
    "Variable",
]
