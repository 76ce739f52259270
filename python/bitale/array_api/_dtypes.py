"""Dtypes: the standard's promotion, and queries."""

from __future__ import annotations

import builtins
import dataclasses
from typing import Any

import numpy as np

import bitale as bt
import bitale.tensor as pt
from bitale.array_api._eager import Array, standard
from bitale.tensor._standard import DTYPES

bool = np.dtype("bool")
int8, int16, int32, int64 = (np.dtype(f"int{n}") for n in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (np.dtype(f"uint{n}") for n in (8, 16, 32, 64))
float32, float64 = np.dtype("float32"), np.dtype("float64")
complex64, complex128 = np.dtype("complex64"), np.dtype("complex128")

_kinds = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}
_names = frozenset(DTYPES)
_python = (builtins.bool, int, float, complex)


def default_float() -> np.dtype[Any]:
    out: np.dtype[Any] = np.dtype(bt.config.floatX)
    return out


def as_dtype(dtype: Any) -> np.dtype[Any]:
    found: np.dtype[Any] = np.dtype(dtype)
    if found.name not in _names:
        raise TypeError(f"expected a dtype of the standard, got {dtype!r}")
    return found


def dtype_of(x: Any) -> np.dtype[Any]:
    out: np.dtype[Any] = np.dtype(x.dtype)
    return out


def promoted(*dtypes: np.dtype[Any]) -> np.dtype[Any]:
    """The common dtype. TypeError where the standard defines none: of kinds that are mixed, and of uint64 with signed integers."""
    groups = {"b": "bool", "i": "integer", "u": "integer", "f": "float", "c": "float"}
    if len({groups[each.kind] for each in dtypes}) > 1:
        raise TypeError(
            f"the standard does not mix {', '.join(sorted({each.name for each in dtypes}))}: use astype"
        )
    out = np.result_type(*dtypes)
    if out.kind == "f" and dtypes[0].kind in "iu":
        raise TypeError(
            f"no integer dtype holds {', '.join(each.name for each in dtypes)}: use astype"
        )
    return out


def of_scalar(value: Any, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of a Python number that meets an array of a dtype. TypeError where the array can't hold its kind."""
    if isinstance(value, builtins.bool):
        fits = dtype.kind == "b"
    elif isinstance(value, int):
        fits = dtype.kind in "iufc"
        if dtype.kind in "iu" and not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
            raise OverflowError(f"{value} does not fit {dtype.name}")
    elif isinstance(value, float):
        fits = dtype.kind in "fc"
    else:
        fits = dtype.kind in "fc"
        if dtype.kind == "f":
            return np.dtype("complex64" if dtype == float32 else "complex128")
    if not fits:
        raise TypeError(
            f"the Python number {value!r} does not go with an array of dtype {dtype.name}"
        )
    return dtype


def as_symbolic(x: Any) -> Any:
    if isinstance(x, bt.graph.basic.Variable):
        return x
    if isinstance(x, (np.ndarray, np.generic)):
        return pt.as_tensor_variable(x)
    raise TypeError(f"expected an array, got {x!r} of type {type(x).__name__}")


_words = {"b": "bool", "iu": "integers", "f": "real floats", "fc": "floats", "iuf": "real numbers", "iufc": "numbers", "biu": "integers or bool", "c": "complex numbers"}  # fmt: skip


def of_kinds(x: Any, name: str, kinds: str) -> Any:
    """The variable. TypeError for a dtype of other kinds than those for which the standard defines a function."""
    x = as_symbolic(x)
    if dtype_of(x).kind not in kinds:
        raise TypeError(f"{name}: expected {_words.get(kinds, 'another dtype')}, got {x.dtype}")
    return x


def as_operands(*given: Any) -> list[Any]:
    """Variables of one dtype. At least one of the operands is an array."""
    arrays = [dtype_of(as_symbolic(x)) for x in given if not isinstance(x, _python)]
    if not arrays:
        raise TypeError("expected at least one array among the operands")
    dtype = promoted(*arrays)
    for x in given:
        if isinstance(x, _python):
            dtype = (
                np.result_type(dtype, of_scalar(x, dtype))
                if dtype.kind in "fc"
                else of_scalar(x, dtype)
            )
    return [
        pt.constant(np.asarray(x, dtype))
        if isinstance(x, _python)
        else pt.cast(as_symbolic(x), dtype)
        for x in given
    ]


def as_operand(value: Any, dtype: np.dtype[Any]) -> Array:
    of_scalar(value, dtype)
    return Array._of(np.asarray(value, dtype))


@standard
def _cast(x: Any, dtype: str) -> Any:
    return pt.cast(as_symbolic(x), dtype)


def astype(x: Any, dtype: Any, /, *, copy: builtins.bool = True, device: Any = None) -> Any:
    """The elements in another dtype.

    Parameters
    ----------
    x : array
        TypeError for complex numbers that are to become real.
    dtype : dtype
        The standard's.
    copy : bool
        Accepted: arrays are values.
    device : "cpu" or None
        ValueError for another.

    Returns
    -------
    array
        In the shape of x.
    """
    check_device(device)
    target = as_dtype(dtype)
    if dtype_of(x).kind == "c" and target.kind != "c":
        raise TypeError(
            f"astype: {dtype_of(x).name} to {target.name} would lose the imaginary part: use real"
        )
    return _cast(x, target.name)


def can_cast(from_: Any, to: Any, /) -> builtins.bool:
    """Whether the standard's promotion turns a dtype, or an array's, into another one."""
    source = (
        dtype_of(from_) if isinstance(from_, Array) or hasattr(from_, "owner") else as_dtype(from_)
    )
    try:
        return promoted(source, as_dtype(to)) == as_dtype(to)
    except TypeError:
        return False


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """The dtype of an operation on arrays, dtypes and Python numbers."""
    numbers = [each for each in arrays_and_dtypes if isinstance(each, _python)]
    others = [each for each in arrays_and_dtypes if not isinstance(each, _python)]
    if not others:
        raise ValueError("result_type: expected at least one array or dtype")
    out = promoted(
        *(
            dtype_of(each) if isinstance(each, Array) or hasattr(each, "owner") else as_dtype(each)
            for each in others
        )
    )
    for number in numbers:
        out = (
            np.result_type(out, of_scalar(number, out))
            if out.kind in "fc"
            else of_scalar(number, out)
        )
    return out


def isdtype(dtype: Any, kind: Any) -> builtins.bool:
    """Whether a dtype is of a kind ("integral", ...), is another dtype, or is one of several of these."""
    found = as_dtype(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(found, each) for each in kind)
    if isinstance(kind, str):
        if kind not in _kinds:
            raise ValueError(f"isdtype: expected a kind among {', '.join(_kinds)}, got {kind!r}")
        return found.kind in _kinds[kind]
    return found == as_dtype(kind)


@dataclasses.dataclass(frozen=True)
class FloatInfo:
    """Result of finfo."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype[Any]


@dataclasses.dataclass(frozen=True)
class IntegerInfo:
    """Result of iinfo."""

    bits: int
    max: int
    min: int
    dtype: np.dtype[Any]


def _dtype_in(type: Any) -> np.dtype[Any]:
    return dtype_of(type) if isinstance(type, Array) or hasattr(type, "owner") else as_dtype(type)


def finfo(type: Any, /) -> FloatInfo:
    """Limits of a float or complex dtype, or an array's."""
    info = np.finfo(_dtype_in(type))
    return FloatInfo(
        info.bits,
        float(info.eps),
        float(info.max),
        float(info.min),
        float(info.smallest_normal),
        np.dtype(info.dtype),
    )


def iinfo(type: Any, /) -> IntegerInfo:
    """Limits of an integer dtype, or an array's."""
    dtype = _dtype_in(type)
    if dtype.kind not in "iu":
        raise TypeError(f"iinfo: expected an integer dtype, got {dtype.name}")
    info = np.iinfo(dtype)
    return IntegerInfo(info.bits, int(info.max), int(info.min), dtype)


def check_device(device: Any) -> None:
    if device not in (None, "cpu"):
        raise ValueError(f'expected the device "cpu" or None, got {device!r}')


class NamespaceInfo:
    """Result of __array_namespace_info__."""

    def capabilities(self) -> dict[str, Any]:
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        return "cpu"

    def devices(self) -> list[str]:
        return ["cpu"]

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype[Any]]:
        check_device(device)
        is_double = default_float() == float64
        return {
            "real floating": default_float(),
            "complex floating": complex128 if is_double else complex64,
            "integral": int64,
            "indexing": int64,
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, np.dtype[Any]]:
        check_device(device)
        return {
            name: np.dtype(name)
            for name in sorted(_names)
            if kind is None or isdtype(np.dtype(name), kind)
        }


def __array_namespace_info__() -> NamespaceInfo:
    """Devices, dtypes and capabilities."""
    return NamespaceInfo()
