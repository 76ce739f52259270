"""Types of a scalar function's results, given those of its arguments: for output_types_preference of a ScalarOp. Types
are scalars' (bitale.scalar.float64, ...), results are lists of them. TypeError for arguments that a rule refuses."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitale._core import TensorType

__all__ = [
    "float_out",
    "int_out",
    "real_out",
    "same_out",
    "same_out_float_only",
    "same_out_min8",
    "same_out_nobool",
    "same_out_nocomplex",
    "specific_out",
    "upcast_out",
    "upcast_out_min8",
    "upcast_out_no_complex",
    "upcast_out_nobool",
    "upgrade_to_float",
    "upgrade_to_float64",
    "upgrade_to_float_no_complex",
]


def _of(dtype: str) -> list[TensorType]:
    return [TensorType(dtype, ())]


def _upcast(*types: Any) -> str:
    from bitale.scalar.types import upcast

    return upcast(*(each.dtype for each in types))


def _refuse(who: str, kind: str, types: Any) -> None:
    raise TypeError(f"{who}: not defined for {kind}, got {', '.join(str(each) for each in types)}")


def upcast_out(*types: Any) -> list[TensorType]:
    """The type of arithmetic on them.

    >>> from bitale import scalar
    >>> scalar.upcast_out(scalar.int8, scalar.float32)
    [TensorType(float32, shape=())]
    """
    return _of(_upcast(*types))


def upcast_out_nobool(*types: Any) -> list[TensorType]:
    """upcast_out, but of bools alone."""
    if _upcast(*types) == "bool":
        _refuse("upcast_out_nobool", "bools", types)
    return upcast_out(*types)


def upcast_out_min8(*types: Any) -> list[TensorType]:
    """upcast_out, int8 of bools alone."""
    dtype = _upcast(*types)
    return _of("int8" if dtype == "bool" else dtype)


def upcast_out_no_complex(*types: Any) -> list[TensorType]:
    """upcast_out, but of complex numbers."""
    if any(each.dtype.startswith("complex") for each in types):
        _refuse("upcast_out_no_complex", "complex numbers", types)
    return upcast_out(*types)


def same_out(type: Any) -> list[TensorType]:
    """The argument's."""
    return [type]


def same_out_nobool(type: Any) -> list[TensorType]:
    """The argument's, which is not bool."""
    if type.dtype == "bool":
        _refuse("same_out_nobool", "bools", [type])
    return [type]


def same_out_min8(type: Any) -> list[TensorType]:
    """The argument's, int8 for bool."""
    return _of("int8") if type.dtype == "bool" else [type]


def same_out_float_only(type: Any) -> list[TensorType]:
    """The argument's, which is one of floats."""
    if not type.dtype.startswith("float"):
        _refuse("same_out_float_only", "others than floats", [type])
    return [type]


def same_out_nocomplex(type: Any) -> list[TensorType]:
    """The argument's, which is not complex."""
    if type.dtype.startswith("complex"):
        _refuse("same_out_nocomplex", "complex numbers", [type])
    return [type]


def upgrade_to_float(*types: Any) -> list[TensorType]:
    """The float type of arithmetic on them: float32 for up to 16 bits of integers, float64 for more.

    >>> from bitale import scalar
    >>> scalar.upgrade_to_float(scalar.int16), scalar.upgrade_to_float(scalar.int64)
    ([TensorType(float32, shape=())], [TensorType(float64, shape=())])
    """

    def up(type: Any) -> Any:
        if type.dtype.startswith(("float", "complex")):
            return type
        return TensorType(np.promote_types(type.dtype, "float32"), ())

    return upcast_out(*(up(each) for each in types))


def upgrade_to_float64(*types: Any) -> list[TensorType]:
    """float64; complex arguments are refused."""
    if any(each.dtype.startswith("complex") for each in types):
        _refuse("upgrade_to_float64", "complex numbers", types)
    return _of("float64")


def upgrade_to_float_no_complex(*types: Any) -> list[TensorType]:
    """upgrade_to_float, but of complex numbers."""
    if any(each.dtype.startswith("complex") for each in types):
        _refuse("upgrade_to_float_no_complex", "complex numbers", types)
    return upgrade_to_float(*types)


def int_out(*types: Any) -> list[TensorType]:
    """int64."""
    return _of("int64")


def float_out(*types: Any) -> list[TensorType]:
    """float64."""
    return _of("float64")


def real_out(type: Any) -> list[TensorType]:
    """The type of the real part."""
    return _of(np.zeros((), type.dtype).real.dtype.name)


class specific_out:
    """These types, whatever the arguments'.

    >>> from bitale import scalar
    >>> scalar.specific_out(scalar.float32)(scalar.int8)
    [TensorType(float32, shape=())]
    """

    def __init__(self, *spec: Any):
        self.spec = spec

    def __call__(self, *types: Any) -> list[TensorType]:
        return list(self.spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, specific_out) and self.spec == other.spec

    def __hash__(self) -> int:
        return hash(self.spec)
