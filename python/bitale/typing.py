"""Names for annotations: what functions of bitale.tensor accept and return."""

from __future__ import annotations

from typing import Any, Mapping, Sequence, Union

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
Axis = Union[int, Sequence[int], None]
# Lengths, known or symbolic, as a sequence or as one vector.
ShapeLike = Union[int, Variable, Sequence[Union[int, np.integer, Variable]]]
# The lengths of a type: None where one is unknown.
StaticShape = tuple[Union[int, None], ...]
Updates = Union[Mapping[Variable, Any], Sequence[tuple[Variable, Any]]]

__all__ = [
    "Apply",
    "ArrayLike",
    "Axis",
    "DTypeLike",
    "Function",
    "FunctionGraph",
    "Op",
    "ShapeLike",
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
