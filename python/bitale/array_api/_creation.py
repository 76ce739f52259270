"""Arrays made of values. Results are Arrays, whose values are known; with symbolic arguments (lengths, limits, prototypes) they are
symbolic."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

import bitale as bt
import bitale.tensor as pt
from bitale.array_api._dtypes import (
    as_dtype,
    as_symbolic,
    check_device,
    complex64,
    complex128,
    default_float,
    dtype_of,
    float64,
    int64,
)
from bitale.array_api._eager import Array, _map, standard


def is_symbolic(*values: Any) -> bool:
    return builtins.any(
        is_symbolic(*each)
        if isinstance(each, (tuple, list))
        else isinstance(each, bt.graph.basic.Variable)
        for each in values
    )


def _default_dtype(value: np.ndarray[Any, Any]) -> np.dtype[Any]:
    kinds = {
        "b": np.dtype("bool"),
        "i": int64,
        "u": value.dtype,
        "f": default_float(),
        "c": complex128 if default_float() == float64 else complex64,
    }
    if value.dtype.kind not in kinds:
        raise TypeError(f"expected numbers, got {value.dtype}")
    out: np.dtype[Any] = kinds[value.dtype.kind]
    return out


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Any:
    """An Array of a number, of lists of numbers, or of another array. A symbolic variable is returned itself, or in another dtype.

    Parameters
    ----------
    obj : array, number, or nested lists
        Python numbers have the default dtypes: int64, config.floatX and its complex dtype.
    dtype : dtype
        The standard's; by default that of obj.
    device : "cpu" or None
        ValueError for another.
    copy : bool or None
        ValueError for False where a copy is needed.

    Returns
    -------
    Array or TensorVariable
    """
    check_device(device)
    target = None if dtype is None else as_dtype(dtype)
    if is_symbolic(obj):
        variable = pt.as_tensor_variable(obj)
        return variable if target is None else pt.cast(variable, target.name)
    if isinstance(obj, Array):
        if copy is False and target not in (None, obj.dtype):
            raise ValueError("asarray: another dtype needs a copy")
        return Array._of(
            obj._value.astype(target or obj.dtype, copy=True)
            if copy or target not in (None, obj.dtype)
            else obj._value
        )
    if isinstance(obj, (np.ndarray, np.generic)) or hasattr(obj, "__dlpack__"):
        value = np.asarray(obj)
        as_dtype(target or value.dtype)
        return Array._of(value.astype(target or value.dtype, copy=copy is not False))
    if copy is False:
        raise ValueError("asarray: numbers and lists need a copy")
    plain = _map(lambda each: each._value if isinstance(each, Array) else each, obj)
    value = np.asarray(plain)
    if value.dtype == object:
        raise OverflowError(
            "asarray: expected numbers that fit the dtypes of the standard, in lists of equal lengths"
        )
    holds_arrays = isinstance(obj, (list, tuple)) and builtins.any(
        isinstance(each, Array) for each in obj
    )
    if target is not None:
        return Array._of(np.asarray(plain, dtype=target))
    return Array._of(value if holds_arrays else value.astype(_default_dtype(value)))


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """An Array of the memory that another library's array shares."""
    check_device(device)
    return Array._of(np.array(np.from_dlpack(x), copy=True))


def _shape(shape: Any) -> Any:
    return (
        (shape,) if isinstance(shape, (builtins.int, Array)) or is_symbolic(shape) else tuple(shape)
    )


def _filled(shape: Any, value: Any, dtype: np.dtype[Any]) -> Any:
    lengths = _shape(shape)
    if is_symbolic(lengths, value):
        return pt.full(lengths, value, dtype=dtype.name)
    return Array._of(np.full(tuple(builtins.int(n) for n in lengths), value, dtype))


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """An array of a shape whose elements are all one value: bool, int64, config.floatX or complex by default, as the value."""
    check_device(device)
    if isinstance(fill_value, Array):
        fill_value = fill_value._value
    if dtype is None:
        kept = isinstance(fill_value, (np.ndarray, bt.graph.basic.Variable))
        dtype = dtype_of(fill_value) if kept else _default_dtype(np.asarray(fill_value))
    return _filled(shape, fill_value, as_dtype(dtype))


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Ones, in config.floatX by default."""
    check_device(device)
    return _filled(shape, 1, as_dtype(dtype or default_float()))


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Zeros, in config.floatX by default."""
    check_device(device)
    return _filled(shape, 0, as_dtype(dtype or default_float()))


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Uninitialised elements; here zeros."""
    return zeros(shape, dtype=dtype, device=device)


@standard
def _full_like(x: Any, value: Any, dtype: str) -> Any:
    return pt.full_like(as_symbolic(x), value, dtype=dtype)


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """An array of another one's shape and dtype, whose elements are all one value."""
    check_device(device)
    target = as_dtype(dtype or dtype_of(x))
    return _full_like(
        x,
        fill_value
        if isinstance(fill_value, Array) or is_symbolic(fill_value)
        else np.asarray(fill_value, target).item(),
        target.name,
    )


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Ones of another array's shape and dtype."""
    return full_like(x, 1, dtype=dtype, device=device)


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Zeros of another array's shape and dtype."""
    return full_like(x, 0, dtype=dtype, device=device)


def empty_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Uninitialised elements; here zeros."""
    return full_like(x, 0, dtype=dtype, device=device)


def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None
) -> Any:
    """Numbers with equal steps: int64 of integers, else config.floatX."""
    check_device(device)
    if stop is None:
        start, stop = 0, start
    if is_symbolic(start, stop, step):
        return pt.arange(start, stop, step, dtype=None if dtype is None else as_dtype(dtype).name)
    if dtype is None:
        dtype = (
            int64
            if builtins.all(isinstance(each, builtins.int) for each in (start, stop, step))
            else default_float()
        )
    return Array._of(np.arange(start, stop, step, dtype=as_dtype(dtype)))


def linspace(
    start: Any,
    stop: Any,
    /,
    num: builtins.int,
    *,
    dtype: Any = None,
    device: Any = None,
    endpoint: bool = True,
) -> Any:
    """num numbers with equal steps, of which the last is stop unless endpoint is False."""
    check_device(device)
    if num < 0:
        raise ValueError(f"linspace: expected a number of elements from 0 on, got {num}")
    is_complex = builtins.any(isinstance(each, complex) for each in (start, stop))
    target = as_dtype(dtype or (_default_dtype(np.asarray(0j)) if is_complex else default_float()))
    if is_symbolic(start, stop):
        return pt.linspace(start, stop, num, endpoint=endpoint, dtype=target.name)
    if target.kind == "c":
        return Array._of(np.linspace(start, stop, num, endpoint=endpoint).astype(target))
    numbers: Any = pt.linspace(
        np.asarray(start, "float64"),
        np.asarray(stop, "float64"),
        num,
        endpoint=endpoint,
        dtype=target.name,
    )
    return Array._of(numbers.eval())


def eye(
    n_rows: Any,
    n_cols: Any = None,
    /,
    *,
    k: builtins.int = 0,
    dtype: Any = None,
    device: Any = None,
) -> Any:
    """Ones on a diagonal of a matrix of zeros."""
    check_device(device)
    target = as_dtype(dtype or default_float())
    columns = n_rows if n_cols is None else n_cols
    if is_symbolic(n_rows, columns):
        return pt.eye(n_rows, columns, k, dtype=target.name)
    out = np.zeros((n_rows, columns), target)
    if -n_rows < k < columns:  # also of numbers beyond all diagonals
        out[...] = np.eye(n_rows, columns, k, dtype=target)
    return Array._of(out)


def meshgrid(*arrays: Any, indexing: str = "xy") -> list[Any]:
    """The coordinates of the points of a grid, from those along each of its dimensions."""
    if len({dtype_of(each) for each in arrays}) > 1:
        raise ValueError("meshgrid: expected arrays of one dtype")
    if builtins.any(each.ndim != 1 for each in arrays):
        raise ValueError("meshgrid: expected vectors")
    return list(_meshgrid(list(arrays), indexing)) if arrays else []


@standard
def _meshgrid(arrays: list[Any], indexing: str) -> list[Any]:
    return list(pt.meshgrid(*map(as_symbolic, arrays), indexing=indexing))


def _triangle(x: Any, k: builtins.int, function: Any, name: str) -> Any:
    x = as_symbolic(x)
    if x.ndim < 2:
        raise ValueError(f"{name}: expected matrices, got {x.ndim} dimensions")
    zero = pt.zeros_like(x[..., :1, :1])
    ones = function(pt.ones_like(x, dtype="int8"), k)
    return pt.switch(pt.neq(ones, 0), x, pt.cast(zero, x.dtype))


@standard
def tril(x: Any, /, *, k: builtins.int = 0) -> Any:
    """Matrices with zeros above diagonal k."""
    return _triangle(x, k, pt.tril, "tril")


@standard
def triu(x: Any, /, *, k: builtins.int = 0) -> Any:
    """Matrices with zeros below diagonal k."""
    return _triangle(x, k, pt.triu, "triu")
