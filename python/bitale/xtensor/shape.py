"""Changes of the dimensions of labelled tensors: order, names, number. Names and arguments are xarray's and PyTensor's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bitale import _core
from bitale._core import Dim, Variable, XTensorVariable

__all__ = [
    "assign_coords", "broadcast", "concat", "drop_coords", "expand_dims", "full_like", "ones_like", "rename", "squeeze", "stack", "transpose",
    "unstack", "zeros_like",
]  # fmt: skip


def either(given: Any, keywords: Mapping[str, Any], who: str) -> Any:
    """The names in a dict, which a function takes as one or as keywords."""
    if given is not None and keywords:
        raise ValueError(f"{who}: expected names either in a dict or as keywords, got both")
    return keywords if given is None else given


def transpose(x: Any, *dim: Any, missing_dims: str = "raise") -> XTensorVariable:
    """Bring the dimensions into an order.

    Parameters
    ----------
    x : XTensorVariable
        The tensor.
    *dim : str, Dim or ...
        All dimensions in the new order, where ... stands for those that are
        not named. By default the order is reversed.
    missing_dims : str
        'raise', 'warn' or 'ignore' names that `x` does not have.

    Returns
    -------
    XTensorVariable
        The transposed tensor.

    Raises
    ------
    ValueError
        For a name that does not exist or is repeated, or if one is omitted.

    Examples
    --------
    >>> from bitale import xtensor as px
    >>> px.shape.transpose(px.xtensor("x", dims=("a", "b", "c")), "c", ...).dims
    ('c', 'a', 'b')
    """
    return _core.xtensor_operand(x).transpose(*dim, missing_dims=missing_dims)


def squeeze(x: Any, dim: Any = None) -> XTensorVariable:
    """Drop dimensions of length 1: those that are named, or all whose static length is 1."""
    return _core.xtensor_operand(x)._squeeze(dim)


def _new_dimension(name: Any, value: Any) -> tuple[Any, Any]:
    """A new dimension and its length. Labels are its coordinates."""
    if isinstance(value, (list, tuple, np.ndarray)) and not np.ndim(value) == 0:
        return Dim(name.name if isinstance(name, Dim) else name, coords=value), None
    return name, value


def expand_dims(
    x: Any, /, dim: Any = None, axis: int | Sequence[int] | None = None, **dim_kwargs: Any
) -> XTensorVariable:
    """Add dimensions.

    Parameters
    ----------
    x : XTensorVariable
        The tensor.
    dim : str, Dim, sequence or dict, optional
        The new dimensions. A dict gives the length of each, an integer or a scalar, or its labels,
        which become its coordinates.
    axis : int or sequence of int, optional
        Positions of the new dimensions in the result; by default in front.
    **dim_kwargs : object
        The dict as keywords.

    Returns
    -------
    XTensorVariable
        The elements, repeated along the new dimensions.

    Raises
    ------
    ValueError
        For a dimension that `x` already has, or a different number of positions.

    Examples
    --------
    >>> from bitale import xtensor as px
    >>> px.shape.expand_dims(px.xtensor("x", dims="year"), country=["DE", "FR"])
    Alloc.0: float64[country: 2, year: ?]
    """
    given = either(dim, dim_kwargs, "expand_dims")
    pairs = (
        [_new_dimension(*item) for item in given.items()]
        if isinstance(given, Mapping)
        else [(one, None) for one in _core.xtensor_dims(given)]
    )
    names = _core.xtensor_dims([name for name, _ in pairs])
    old = _core.xtensor_operand(x)
    out = old._expand_dims(names, [length for _, length in pairs])
    if axis is None:
        return out
    positions = [axis] if isinstance(axis, int) else list(axis)
    if len(positions) != len(names):
        raise ValueError(
            f"expand_dims: expected a position for each of {len(names)} new dimensions, got axis={axis!r}"
        )
    order: list[Any] = [None] * out.ndim
    for name, position in zip(names, positions):
        if not -out.ndim <= position < out.ndim or order[position] is not None:
            raise ValueError(
                f"expand_dims: axis={axis!r}: expected different positions among {out.ndim} dimensions"
            )
        order[position] = name
    rest = iter(old.dims)
    return out.transpose(*(next(rest) if each is None else each for each in order))


def rename(x: Any, /, name_dict: Mapping[str, Any] | None = None, **names: Any) -> XTensorVariable:
    """Rename dimensions.

    Parameters
    ----------
    x : XTensorVariable
        The tensor.
    name_dict : dict, optional
        New names by old ones. A Dim gives the dimension its coordinates as
        well; those of `x` stay otherwise.
    **names : str or Dim
        The dict as keywords.

    Returns
    -------
    XTensorVariable
        The same tensor with other names.

    Raises
    ------
    ValueError
        For a name that does not exist, and if two dimensions would have the same name.
    """
    return _core.xtensor_operand(x)._rename(dict(either(name_dict, names, "rename")))


def stack(
    x: Any, /, dim: Mapping[str, Any] | None = None, create_index: bool | None = False, **dims: Any
) -> XTensorVariable:
    """Combine several dimensions into one.

    Parameters
    ----------
    x : XTensorVariable
        The tensor.
    dim : dict, optional
        New dimensions, and the dimensions that each of them combines. They come last.
    create_index : bool, optional
        Whether a new dimension has coordinates: a pandas.MultiIndex of the
        labels of its parts, or of positions along those that have none. None:
        if all of them have labels.
    **dims : sequence of str
        The dict as keywords.

    Returns
    -------
    XTensorVariable
        The tensor with fewer dimensions.

    Raises
    ------
    ValueError
        For a name that is not there.
    NotImplementedError
        For ``create_index=True`` if pandas is not installed, or a length is not known.

    Examples
    --------
    >>> from bitale import xtensor as px
    >>> x = px.xtensor("x", dims=(px.Dim("row", coords=["a", "b"]), px.Dim("column", 2)))
    >>> x.stack(cell=("row", "column"), create_index=True).sel(cell=("b", 1))
    Subtensor{i}.0: float64[]
    """
    out = _core.xtensor_operand(x)
    for name, stacked in either(dim, dims, "stack").items():
        if isinstance(stacked, str):
            raise TypeError(
                f"stack: expected the names of several dimensions for {name!r}, got {stacked!r}"
            )
        out = out._stack(name, list(stacked), create_index)
    return out


def unstack(x: Any, /, dim: Any = None, **dims: Mapping[str, Any]) -> XTensorVariable:
    """Split one dimension into several.

    Parameters
    ----------
    x : XTensorVariable
        The tensor.
    dim : dict, str or sequence of str, optional
        Dimensions, and for each a dict of the new ones and their lengths: an integer, a scalar,
        None for one that follows from the others, or labels, which become coordinates. They come
        last. Names without a dict stand for dimensions whose coordinates are a pandas.MultiIndex:
        each level becomes a dimension, and missing combinations become nan. By default all such
        dimensions.
    **dims : dict
        The dict as keywords.

    Returns
    -------
    XTensorVariable
        The tensor with more dimensions.

    Raises
    ------
    ValueError
        For a name that does not exist, and lengths that do not match.
    """
    out = _core.xtensor_operand(x)
    given = either(dim, dims, "unstack")
    if not given and dim is None:
        given = [name for name, labels in out.coords.items() if hasattr(labels, "levels")]
    if not isinstance(given, Mapping):
        for one in _core.xtensor_dims(given):
            out = out._unstack_index(one)
        return out
    for name, parts in given.items():
        pairs = [_new_dimension(*item) for item in parts.items()]
        out = out._unstack(name, [one for one, _ in pairs], [length for _, length in pairs])
    return out


def concat(xtensors: Sequence[Any], dim: Any) -> XTensorVariable:
    """Join labelled tensors.

    Parameters
    ----------
    xtensors : sequence of XTensorVariable
        The tensors. Along dimensions that only some of them have, the others
        are repeated.
    dim : str or Dim
        The dimension to join along. A tensor that lacks it contributes one position. A Dim may have
        the coordinates of the result.

    Returns
    -------
    XTensorVariable
        The joined tensor.

    Raises
    ------
    ValueError
        For no tensors, and for lengths or coordinates that differ along
        another dimension.
    """
    return _core.xtensor_concat(list(xtensors), dim)


def broadcast(*args: Any, exclude: Any = None) -> tuple[XTensorVariable, ...]:
    """Repeat tensors along each other's dimensions.

    Parameters
    ----------
    *args : XTensorVariable
        The tensors.
    exclude : str or sequence of str, optional
        Dimensions along which nothing is repeated; they come last.

    Returns
    -------
    tuple of XTensorVariable
        The tensors with all dimensions.
    """
    return tuple(_core.xtensor_broadcast(list(args), exclude))


def full_like(x: Any, fill_value: Any, dtype: Any = None) -> XTensorVariable:
    """A tensor of the same dimensions whose elements are all one scalar, by default in the dtype of `x`."""
    return _core.xtensor_full_like(x, fill_value, None if dtype is None else str(np.dtype(dtype)))


def ones_like(x: Any, dtype: Any = None) -> XTensorVariable:
    """A tensor of the same dimensions whose elements are 1."""
    return full_like(x, 1, dtype)


def zeros_like(x: Any, dtype: Any = None) -> XTensorVariable:
    """A tensor of the same dimensions whose elements are 0."""
    return full_like(x, 0, dtype)


def assign_coords(
    x: Any, /, coords: Mapping[str, Any] | None = None, **coords_kwargs: Any
) -> XTensorVariable:
    """The tensor with labels for the positions along dimensions; None removes labels."""
    return _core.xtensor_operand(x)._assign_coords(
        dict(either(coords, coords_kwargs, "assign_coords"))
    )


def drop_coords(x: Any, dim: Any = None) -> XTensorVariable:
    """The tensor without labels along dimensions, by default along all; it can then be combined with others of the same lengths."""
    out = _core.xtensor_operand(x)
    names = out.dims if dim is None else [each.name for each in _core.xtensor_dims(dim)]
    return out._assign_coords(dict.fromkeys(names))


def is_symbolic(value: Any) -> bool:
    """Whether it is a variable."""
    return isinstance(value, (Variable, XTensorVariable))
