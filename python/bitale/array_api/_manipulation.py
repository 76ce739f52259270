"""Rearrangements of elements."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

import bitale.tensor as pt
from bitale.array_api._dtypes import as_symbolic, dtype_of, promoted
from bitale.array_api._eager import Array, standard, standard_by_shape


@standard
def _in_one_dtype(arrays: list[Any]) -> list[Any]:
    dtype = promoted(*map(dtype_of, arrays))
    return [pt.cast(as_symbolic(each), dtype.name) for each in arrays]


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that arrays of these shapes have when broadcast together. ValueError when they do not broadcast."""
    return tuple(np.broadcast_shapes(*shapes))


@standard
def broadcast_arrays(*arrays: Any) -> list[Any]:
    """The arrays, broadcast together."""
    return list(pt.broadcast_arrays(*map(as_symbolic, arrays)))


@standard
def broadcast_to(x: Any, /, shape: tuple[int, ...]) -> Any:
    """x repeated to a shape. ValueError when it does not broadcast."""
    return pt.broadcast_to(as_symbolic(x), tuple(shape))


@standard
def concat(arrays: Any, /, *, axis: int | None = 0) -> Any:
    """Arrays joined along an axis; flattened for None."""
    arrays = _in_one_dtype(list(arrays))
    return (
        pt.concatenate([each.flatten() for each in arrays], axis=0)
        if axis is None
        else pt.concatenate(arrays, axis=axis)
    )


@standard
def stack(arrays: Any, /, *, axis: int = 0) -> Any:
    """Arrays joined along a new axis."""
    return pt.stack(_in_one_dtype(list(arrays)), axis=axis)


@standard
def expand_dims(x: Any, /, axis: int | tuple[int, ...] = 0) -> Any:
    """x with new dimensions of length 1."""
    return pt.expand_dims(as_symbolic(x), axis)


@standard
def flip(x: Any, /, *, axis: int | tuple[int, ...] | None = None) -> Any:
    """The elements in reverse order along axes, all by default."""
    return pt.flip(as_symbolic(x), axis)


@standard
def moveaxis(x: Any, source: Any, destination: Any, /) -> Any:
    """x with dimensions moved to other positions."""
    return pt.moveaxis(as_symbolic(x), source, destination)


@standard
def permute_dims(x: Any, /, axes: tuple[int, ...]) -> Any:
    """x with its dimensions in another order."""
    return pt.transpose(as_symbolic(x), axes)


@standard
def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> Any:
    """Each element repeated consecutively."""
    return pt.repeat(as_symbolic(x), repeats, axis=axis)


@standard
def reshape(x: Any, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Any:
    """The elements in another shape, of which one length may be -1."""
    return pt.reshape(as_symbolic(x), tuple(shape), ndim=len(tuple(shape)))


@standard
def roll(x: Any, /, shift: Any, *, axis: Any = None) -> Any:
    """Shifted along axes: elements that leave one end re-enter at the other."""
    return pt.roll(as_symbolic(x), shift, axis=axis)


@standard_by_shape
def squeeze(x: Any, /, axis: int | tuple[int, ...] | None = None) -> Any:
    """x without dimensions of length 1. ValueError for others."""
    x = as_symbolic(x)
    axes = (axis,) if isinstance(axis, int) else axis
    for each in axes or ():
        if not -x.ndim <= each < x.ndim:
            raise IndexError(f"squeeze: axis {each} is out of bounds for {x.ndim} dimensions")
        if x.type.shape[each] not in (1, None):
            raise ValueError(f"squeeze: axis {each} has length {x.type.shape[each]}, not 1")
    return pt.squeeze(x, axis=axis)


@standard
def tile(x: Any, repetitions: tuple[int, ...], /) -> Any:
    """x repeated along each dimension."""
    return pt.tile(as_symbolic(x), tuple(repetitions)) if len(repetitions) else as_symbolic(x)


@standard_by_shape
def _unstack(x: Any, axis: int) -> Any:
    return tuple(pt.unstack(as_symbolic(x), axis=axis))


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """The parts at each position along an axis."""
    if isinstance(x, Array) and not -x.ndim <= axis < x.ndim:
        raise IndexError(f"unstack: axis {axis} is out of bounds for {x.ndim} dimensions")
    if isinstance(x, Array) and x.shape[axis] == 0:
        return ()
    return builtins.tuple(_unstack(x, axis))
