"""How labelled tensors are taken apart: the tensor, and dimensions that values get back as xarray's arrays.

Functions, derivatives, loops and everything else that walks trees handle labelled tensors by this alone."""

from __future__ import annotations

import functools
import importlib.util
from typing import Any

import numpy as np

from bitale import _core
from bitale._core import Variable, XTensorVariable
from bitale.xtensor.type import as_xtensor

__all__ = ["data_array"]


@functools.cache
def _xarray() -> Any:
    """The module, which is imported when the first value is labelled; None where it is not installed."""
    return None if importlib.util.find_spec("xarray") is None else importlib.import_module("xarray")


def data_array(x: XTensorVariable, value: Any) -> Any:
    """The value of a labelled tensor as an xarray.DataArray with its coordinates; as it is where xarray is not installed."""
    xarray = _xarray()
    if xarray is None:
        return value
    coords = x.coords
    levels = {name: coords.pop(name) for name in list(coords) if hasattr(coords[name], "levels")}
    array = xarray.DataArray(np.asarray(value), dims=x.dims, coords=coords, name=x.name)
    for name, index in levels.items():
        array = array.assign_coords(xarray.Coordinates.from_pandas_multiindex(index, name))
    return array


class _Form:
    """What a labelled tensor is besides its tensor: dimensions, and a name for messages."""

    def __init__(self, x: XTensorVariable):
        self.x = x
        self.dimensions = list(x.dimensions)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Form) and (
            self.x is other.x
            or (self.x.dims == other.x.dims and self.dimensions == other.dimensions)
        )

    def __hash__(self) -> int:
        return hash(self.x.dims)

    def __repr__(self) -> str:
        return f"dims={self.x.dims}"


def _flatten(x: XTensorVariable) -> tuple[tuple[Any, ...], _Form]:
    return (x.values,), _Form(x)


def _looped(use: str, x: XTensorVariable) -> tuple[tuple[Any, ...], None]:
    """In a loop it is its own child: the builder of loops steps through a dimension by its name."""
    return (x,), None


def _unflatten(form: _Form | None, children: tuple[Any, ...]) -> Any:
    """A labelled tensor of a variable, xarray's array of values; and the children, if they are of other kinds."""
    values: Any
    (values,) = children
    if form is None:
        return values
    is_symbolic = isinstance(values, Variable)
    if is_symbolic:
        # A derivative may be absent, which has no dimensions.
        return (
            _core.xtensor_of_values(values, form.dimensions) if hasattr(values, "ndim") else values
        )
    return data_array(form.x, values) if isinstance(values, (np.ndarray, np.generic)) else children


def _like(form: _Form | None, value: Any) -> tuple[Any, ...]:
    """The tensor, or the array, whose axes are in the order of this one's dimensions."""
    if form is None:
        return (value,)
    x = form.x
    if isinstance(value, (XTensorVariable, Variable)):
        labelled = as_xtensor(value)
        if set(labelled.dims) != set(x.dims):
            raise ValueError(f"expected the dimensions {x.dims} of {x!r}, got {labelled!r}")
        for dim in form.dimensions:
            theirs = labelled.dimensions[labelled.dims.index(dim.name)]
            if not (
                dim.coords is None
                or theirs.coords is None
                or dim.coords is theirs.coords
                or dim == theirs
            ):
                raise ValueError(
                    f"{x!r} and {labelled!r} have other coordinates along {dim.name!r}"
                )
        return ((labelled if labelled.dims == x.dims else labelled.transpose(*x.dims)).values,)
    return (_core.array_in_order(form.dimensions, value, repr(x)),)


def _described(form: _Form, value: Any) -> str:
    lengths = ", ".join(
        f"{dim.name}={length}" for dim, length in zip(form.dimensions, np.shape(value))
    )
    return f"{form.x.name or 'an input'}({lengths})"


def _jacobian(of: Any, by: Any, derivative: Any) -> Any:
    """The derivative with the dimensions of both, where both have some."""
    if isinstance(of, Variable) and (getattr(of, "ndim", 0) > 0 or not hasattr(derivative, "ndim")):
        return derivative
    if not isinstance(by, XTensorVariable):
        return derivative
    dims = [] if isinstance(of, Variable) else list(of.dimensions)
    return _core.xtensor_of_values(
        derivative, _core.xtensor_jacobian_dims(dims, list(by.dimensions))
    )


_core.register_tree(
    XTensorVariable,
    _flatten,
    _unflatten,
    like=_like,
    jacobian=_jacobian,
    described=_described,
    looped=_looped,
    names=["values"],
)
