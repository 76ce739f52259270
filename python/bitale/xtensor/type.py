"""Types of labelled tensors, and variables made from values: constants, shared variables, xarray arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import bitale.tensor as pt
from bitale import _core
from bitale._core import Dim, TensorVariable, XTensorVariable, is_data_array
from bitale.compile.sharedvalue import shared
from bitale.configuration import config

__all__ = [
    "XTensorType",
    "as_xtensor",
    "tensor_from_xtensor",
    "xtensor",
    "xtensor_constant",
    "xtensor_from_tensor",
    "xtensor_shared",
]


def dimensions_of(dims: Any) -> list[Dim]:
    """Dim objects for a name, a Dim, or a sequence of them."""
    return _core.xtensor_dims(dims)


class XTensorType:
    """The type of labelled tensors: a dtype, dimensions, and their lengths, which may be None.

    Parameters
    ----------
    dtype : str or numpy.dtype
        The dtype of the elements; "floatX" is that of config.floatX.
    dims : str, Dim or sequence of them
        The dimensions.
    shape : sequence of int or None, optional
        The known lengths, in the order of `dims`. By default those of the Dim objects.
    name : str, optional
        Name of the type.

    Raises
    ------
    ValueError
        For repeated names, or another number of lengths than of dimensions.

    See Also
    --------
    xtensor, Dim

    Examples
    --------
    >>> from bitale import xtensor as px
    >>> px.XTensorType("float64", dims=("country", "year"), shape=(5, None))("x")
    x: float64[country: 5, year: ?]
    """

    def __init__(
        self,
        dtype: Any,
        *,
        dims: Any,
        shape: Sequence[int | None] | None = None,
        name: str | None = None,
    ):
        self.dtype = str(
            np.dtype(config.floatX if isinstance(dtype, str) and dtype == "floatX" else dtype)
        )
        self.dimensions: tuple[Dim, ...] = tuple(dimensions_of(dims))
        self.dims: tuple[str, ...] = tuple(dim.name for dim in self.dimensions)
        self.name = name
        given = [None] * len(self.dims) if shape is None else list(shape)
        if len(given) != len(self.dims):
            raise ValueError(
                f"XTensorType: expected a length or None for each of {self.dims}, got {tuple(given)}"
            )
        self.shape: tuple[int | None, ...] = tuple(
            dim.length if length is None else length for dim, length in zip(self.dimensions, given)
        )
        self()  # checks names and lengths

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.dims)

    @property
    def numpy_dtype(self) -> Any:
        """The dtype, as NumPy's object."""
        return np.dtype(self.dtype)

    def __call__(self, name: str | None = None) -> XTensorVariable:
        """A variable of the type: an input of functions."""
        return _core.xtensor_of_values(
            pt.tensor(name, dtype=self.dtype, shape=self.shape), self.dimensions
        )

    def clone(
        self, dtype: Any = None, dims: Any = None, shape: Any = None, **kwargs: Any
    ) -> XTensorType:
        """A type that differs in the arguments."""
        same = dims is None and shape is None
        return XTensorType(
            self.dtype if dtype is None else dtype,
            dims=self.dimensions if dims is None else dims,
            shape=self.shape if same else shape,
            **kwargs,
        )

    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """The value as an array with the type's order of dimensions. ValueError for one of xarray's with other dimensions or coordinates."""
        tensor_type: Any = pt.TensorType(self.dtype, self.shape)
        return tensor_type.filter(
            _core.array_in_order(self.dimensions, value, "XTensorType"), strict, allow_downcast
        )

    def is_super(self, other: Any) -> bool:
        """Whether every value of another type is a value of this one."""
        return (
            isinstance(other, XTensorType)
            and (self.dtype, self.dims) == (other.dtype, other.dims)
            and all(mine is None or mine == theirs for mine, theirs in zip(self.shape, other.shape))
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, XTensorType)
            and (self.dtype, self.dims, self.shape) == (other.dtype, other.dims, other.shape)
            and all(
                (a.coords is None) == (b.coords is None) and (a.coords is None or a == b)
                for a, b in zip(self.dimensions, other.dimensions)
            )
        )

    def __hash__(self) -> int:
        return hash((self.dtype, self.dims, self.shape))

    def __repr__(self) -> str:
        return f"XTensorType({self.dtype}, shape={self.shape}, dims={self.dims})"


def xtensor(
    name: str | None = None,
    *,
    dims: Any,
    shape: Sequence[int | None] | None = None,
    dtype: Any = "floatX",
) -> XTensorVariable:
    """Make a labelled variable, an input of functions.

    Parameters
    ----------
    name : str, optional
        Name of the variable.
    dims : str, Dim or sequence of them
        Its dimensions. A Dim gives it its length and coordinates.
    shape : sequence of int or None, optional
        The lengths that are known.
    dtype : str or numpy.dtype
        The dtype, by default config.floatX.

    Returns
    -------
    XTensorVariable
        The variable.

    Raises
    ------
    ValueError
        For repeated names, or another number of lengths than of dimensions.

    See Also
    --------
    as_xtensor, XTensorType

    Examples
    --------
    >>> from bitale import xtensor as px
    >>> x = px.xtensor("x", dims=("country", "year"), shape=(2, None))
    >>> x.sum("year")
    Sum{axis=1}.0: float64[country: 2]
    """
    return XTensorType(dtype, dims=dims, shape=shape)(name)


def xtensor_constant(x: Any, name: str | None = None, dims: Any = None) -> XTensorVariable:
    """Make a labelled constant.

    Parameters
    ----------
    x : array_like or xarray.DataArray
        The values. A DataArray keeps its dimensions and their coordinates; other coordinates are dropped.
    name : str, optional
        Name of the constant.
    dims : str, Dim or sequence of them, optional
        The dimensions of an array, or those that a DataArray must have.

    Returns
    -------
    XTensorVariable
        The constant.

    Raises
    ------
    TypeError
        For an array with dimensions, but without names for them.
    ValueError
        If they differ from the dimensions of `x`.

    See Also
    --------
    as_xtensor, xtensor_shared

    Examples
    --------
    >>> from bitale import xtensor as px
    >>> px.xtensor_constant([1.0, 2.0], dims="year").sum().eval().item()
    3.0
    """
    values, dimensions = _values_and_dims(x, dims, "xtensor_constant")
    return _core.xtensor_of_values(pt.constant(values, name=name), dimensions)


def _values_and_dims(x: Any, dims: Any, who: str) -> tuple[Any, list[Dim]]:
    if is_data_array(x):
        own = _core.dims_of_data_array(x)
        if dims is None:
            return x.values, own
        asked = dimensions_of(dims)
        if [dim.name for dim in asked] != list(x.dims):
            raise ValueError(
                f"{who}: the array has the dimensions {tuple(x.dims)}, not {tuple(dim.name for dim in asked)}"
            )
        return x.values, [
            mine if mine.coords is not None and other.coords is None else other
            for mine, other in zip(own, asked)
        ]
    array = np.asarray(x)
    if dims is None:
        if array.ndim:
            raise TypeError(
                f'{who}: expected names for the {array.ndim} dimensions of an array, as in dims=("country", "year")'
            )
        return x, []
    return array, dimensions_of(dims)


def xtensor_shared(
    x: Any,
    *,
    name: str | None = None,
    shape: Sequence[int | None] | None = None,
    dims: Any = None,
    strict: bool = False,
    borrow: bool = False,
) -> XTensorVariable:
    """Make a labelled shared variable, whose value persists between calls.

    Parameters
    ----------
    x : array_like or xarray.DataArray
        The value, as for `xtensor_constant`.
    name : str, optional
        Name of the variable.
    shape : sequence of int or None, optional
        Lengths that later values must have. By default those along dimensions with coordinates or a
        declared length.
    dims : str, Dim or sequence of them, optional
        The dimensions.
    strict : bool
        Refuse values of another type in `set_value`.
    borrow : bool
        Use the array itself rather than a copy.

    Returns
    -------
    XTensorVariable
        The variable. ``get_value()`` and ``set_value(value)`` read and store
        its value.

    Raises
    ------
    TypeError
        For an array with dimensions, but without names for them.

    See Also
    --------
    xtensor_constant

    Examples
    --------
    >>> from bitale import xtensor as px
    >>> total = px.xtensor_shared([0.0, 0.0], dims="year", name="total")
    >>> bt.function([], None, updates={total: total + 1})()
    >>> total.get_value().sum().item()
    2.0
    """
    values, dimensions = _values_and_dims(x, dims, "xtensor_shared")
    lengths = tuple(dim.length for dim in dimensions) if shape is None else tuple(shape)
    return _core.xtensor_of_values(
        shared(np.asarray(values), name, strict=strict, borrow=borrow, shape=lengths), dimensions
    )


def input_kind(value: Any) -> Any:
    """What the variable for one of xarray's arrays depends on: its dtype and dimensions, with their labels."""
    return str(value.dtype), list(_core.dims_of_data_array(value))


def input_like(value: Any, name: str | None) -> XTensorVariable:
    dtype, dims = input_kind(value)
    return xtensor(name, dims=dims, dtype=dtype)


def shared_array(value: Any, *, allow_downcast: None = None, **options: Any) -> XTensorVariable:
    """What `bitale.shared` makes of one of xarray's arrays."""
    return xtensor_shared(value, **options)


def as_xtensor(x: Any, dims: Any = None, *, name: str | None = None) -> XTensorVariable:
    """Convert to a labelled tensor.

    Parameters
    ----------
    x : XTensorVariable, TensorVariable, array_like or xarray.DataArray
        The value to convert.
    dims : str, Dim or sequence of them, optional
        Names for the dimensions of a tensor or an array. For a labelled tensor, the dimensions that
        it must have, in this order.
    name : str, optional
        Name of a constant.

    Returns
    -------
    XTensorVariable
        The labelled tensor; `x` itself if it is one.

    Raises
    ------
    TypeError
        For a tensor or an array with dimensions, but without names for them.
    ValueError
        If `x` has other dimensions.

    See Also
    --------
    xtensor, xtensor_constant

    Examples
    --------
    >>> from bitale import xtensor as px
    >>> px.as_xtensor(pt.dmatrix("x"), dims=("country", "year"))
    x: float64[country: ?, year: ?]
    """
    if isinstance(x, XTensorVariable):
        if dims is not None and x.dims != tuple(dim.name for dim in dimensions_of(dims)):
            raise ValueError(
                f"as_xtensor: {x!r} has the dimensions {x.dims}, not {tuple(dim.name for dim in dimensions_of(dims))}; "
                "transpose and rename change them"
            )
        return (
            x
            if dims is None
            else _core.xtensor_of_values(
                x.values,
                [
                    asked if asked.coords is not None or mine.coords is None else mine
                    for mine, asked in zip(x.dimensions, dimensions_of(dims))
                ],
            )
        )
    if isinstance(x, TensorVariable):
        return (
            _core.xtensor_operand(x)
            if dims is None
            else _core.xtensor_of_values(x, dimensions_of(dims))
        )
    return xtensor_constant(x, name, dims)


def tensor_from_xtensor(x: Any) -> TensorVariable:
    """The tensor behind a labelled one: its `values`."""
    return as_xtensor(x).values


def xtensor_from_tensor(x: Any, dims: Any, name: str | None = None) -> XTensorVariable:
    """A tensor with names for its dimensions, as returned by `as_xtensor`."""
    return as_xtensor(x, dims, name=name)
