"""PyTensor's types and values in Bitale's terms: tensors and scalars are tensors, generators are generators; None is None; a sparse matrix that is
constant is SciPy's; nothing else has a counterpart."""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.graph.basic import Constant
from pytensor.scalar.basic import ScalarType
from pytensor.tensor.random.type import RandomGeneratorType
from pytensor.tensor.type import TensorType
from pytensor.tensor.type_other import NoneTypeT, SliceType

import bitale.tensor as pt
from bitale._core import dtype_names
from bitale.sparse.type import is_scipy

_DTYPES = frozenset(dtype_names())


def is_labelled(type_: Any) -> bool:
    """Whether it is the type of PyTensor's labelled tensors, whose values are those of tensors."""
    return type(type_).__module__ == "pytensor.xtensor.type" and hasattr(type_, "dims")


def is_expressible(type_: Any) -> bool:
    """Whether values of this PyTensor type are values of a Bitale type."""
    is_number = (
        (isinstance(type_, (TensorType, ScalarType)) or is_labelled(type_))
        and type_.dtype in _DTYPES
        and not hasattr(type_, "format")
    )  # as sparse types have
    return isinstance(type_, RandomGeneratorType) or is_number


def converted_type(type_: Any, bit_generator: str = "PCG64") -> Any:
    """The Bitale type of a PyTensor type. bit_generator: of a generator, of which PyTensor's type says nothing. TypeError where there is none."""
    if isinstance(type_, RandomGeneratorType):
        return pt.random.RandomGeneratorType(bit_generator)
    if not is_expressible(type_):
        raise TypeError(f"Bitale has no type for PyTensor's {type_}")
    return pt.TensorType(type_.dtype, () if isinstance(type_, ScalarType) else type_.shape)


def converted_constant(variable: Constant) -> Any:
    if isinstance(variable.type, NoneTypeT):
        return None
    if isinstance(variable.type, SliceType) or is_scipy(variable.data):
        return variable.data
    if not is_expressible(variable.type):
        raise TypeError(f"Bitale has no type for PyTensor's {variable.type}")
    if isinstance(variable.type, RandomGeneratorType):
        return pt.random.as_rng(variable.data)
    return pt.constant(np.asarray(variable.data, dtype=variable.type.dtype))


def fitted(value: Any, type_: Any) -> Any:
    """The value with the dtype of a PyTensor type, and its lengths of 1, on which broadcasting depends. TypeError for a complex value
    where the type is real: PyTensor's type is then wrong, and a cast would drop the imaginary parts."""
    if isinstance(type_, RandomGeneratorType) or not is_expressible(type_):
        return value
    if value.dtype.startswith("complex") and not type_.dtype.startswith("complex"):
        raise TypeError(
            f"PyTensor declares a result to be {type_.dtype}, which is {value.dtype}: its imaginary part would be lost"
        )
    if value.dtype != type_.dtype:
        value = pt.cast(value, type_.dtype)
    shape = () if isinstance(type_, ScalarType) else type_.shape
    known = value.type.shape
    if any(a == 1 and b is None for a, b in zip(shape, known)):
        value = pt.specify_shape(
            value, tuple(1 if a == 1 and b is None else None for a, b in zip(shape, known))
        )
    return value
