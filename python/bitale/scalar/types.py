"""Types of scalars, which are tensors of rank 0, and conversions to them."""

from __future__ import annotations

import typing

import numpy as np

from bitale import _core
from bitale._core import TensorType
from bitale.configuration import config


class ScalarType:
    """``ScalarType("float64")`` is the type of scalars of a dtype: a TensorType of rank 0."""

    def __new__(cls, dtype: typing.Any) -> typing.Any:
        return TensorType(dtype, ())


def get_scalar_type(dtype: typing.Any, cache: typing.Any = None) -> TensorType:
    """The type of scalars of a dtype; cache is accepted and not needed. TypeError for anything that is not a dtype."""
    return TensorType(dtype, ())


def _types(kinds: str) -> tuple[TensorType, ...]:
    return tuple(TensorType(dtype, ()) for dtype in _core.dtype_names(kinds))


int_types, uint_types, float_types, complex_types = map(_types, "iufc")
integer_types, discrete_types, continuous_types, all_types = map(
    _types, ("iu", "biu", "fc", "biufc")
)
_by_dtype = {type_.dtype: type_ for type_ in all_types}


def _maker(dtype: str | None) -> typing.Callable[..., typing.Any]:
    def make(*names: str) -> list[typing.Any]:
        type_ = _by_dtype[dtype or config.floatX]
        return [type_(name) for name in names]

    make.__doc__ = f"Scalars of dtype {dtype or 'config.floatX'} with these names, as a list."
    return make


ints, floats = _maker("int64"), _maker(None)
complexs = complexs128 = _maker("complex128")
complexs64 = _maker("complex64")


# ---- conversion -----------------------------------------------------------------------------------------------------


def as_scalar(x: typing.Any, name: str | None = None) -> typing.Any:
    """x as a variable of rank 0. TypeError for values with more dimensions."""
    made = _core.as_tensor_variable(x, name=name)
    if made.ndim:
        raise TypeError(f"as_scalar: expected a scalar, got {made} of type {made.type}")
    return made


def constant(x: typing.Any, name: str | None = None, dtype: typing.Any = None) -> typing.Any:
    """A scalar that never changes. TypeError for values with dimensions."""
    made = _core.constant(x, name=name, dtype=dtype)
    if made.ndim:
        raise TypeError(f"constant: expected a scalar, got an array of shape {made.type.shape}")
    return made


def cast(x: typing.Any, dtype: typing.Any) -> typing.Any:
    """The scalar x converted to the dtype; x itself if it has that dtype."""
    return _core.cast(as_scalar(x), dtype)


def upcast(dtype: str, *dtypes: str) -> str:
    """The dtype of arithmetic on scalars of these dtypes.

    >>> from bitale import scalar
    >>> scalar.upcast("int8", "uint8"), scalar.upcast("int64", "float32")
    ('int16', 'float64')
    """
    found = _by_dtype[np.dtype(dtype).name]("x")
    for each in dtypes:
        found = _core.switch(np.True_, found, _by_dtype[np.dtype(each).name]("y"))
    return found.dtype


def convert(x: typing.Any, dtype: typing.Any = None) -> np.ndarray:
    """The value that a constant of x has: of the dtype, or of the smallest that keeps it."""
    return np.asarray(constant(x, dtype=dtype).data)
