"""Groups of positions, windows, shifts, differences and interpolation of labelled tensors, with xarray's names."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

from bitale import _core
from bitale._core import GroupBy, Rolling, XTensorVariable
from bitale.xtensor.shape import either

__all__ = [
    "GroupBy",
    "Rolling",
    "diff",
    "groupby",
    "interp",
    "roll",
    "rolling",
    "shift",
    "vectorize_graph",
]


GroupBy.__module__ = Rolling.__module__ = __name__


def groupby(x: Any, group: Any, dim: Any = None, name: str | None = None) -> GroupBy:
    """Divide the positions along a dimension into groups of equal labels.

    Parameters
    ----------
    x : XTensorVariable
        The tensor.
    group : str, XTensorVariable, xarray.DataArray or array_like
        The label of each position: a dimension, whose coordinates are the
        labels, a labelled constant of one dimension, or an array.
    dim : str or Dim, optional
        The dimension of an array of labels.
    name : str, optional
        The name of the dimension of groups. By default that of a labelled
        constant, or the dimension itself.

    Returns
    -------
    GroupBy
        Its methods reduce each group.

    Raises
    ------
    ValueError
        For a dimension that does not exist or has no coordinates, and if the number of labels
        differs from that of positions.
    NotImplementedError
        For labels that are computed when a function is called.

    Examples
    --------
    >>> from bitale import xtensor as px
    >>> x = px.as_xtensor([1.0, 2.0, 3.0], dims="person")
    >>> x.groupby(["DE", "FR", "DE"], dim="person", name="country").sum().values.eval()
    array([4., 2.])
    """
    return _core.xtensor_groupby(x, group, dim, name)


def _one_dimension(given: Any, keywords: Mapping[str, Any], who: str) -> tuple[str, Any]:
    pairs = dict(either(given, keywords, who))
    if len(pairs) != 1:
        raise (NotImplementedError if pairs else TypeError)(
            f"{who}: expected one dimension, got {tuple(pairs)}"
            + "; apply it once for each" * bool(pairs)
        )
    name, value = next(iter(pairs.items()))
    return _core.xtensor_dims(name)[0].name, value


def _whole(given: Any, who: str) -> int:
    """A number of positions. TypeError for anything but an integer."""
    try:
        return operator.index(given)
    except TypeError:
        raise TypeError(
            f"{who}: expected an integer number of positions, known while the expression is built, got {given!r}"
        ) from None


def rolling(
    x: Any,
    /,
    dim: Mapping[str, int] | None = None,
    min_periods: int | None = None,
    center: bool = False,
    **window_kwargs: int,
) -> Rolling:
    """Make windows of positions along a dimension.

    Parameters
    ----------
    x : XTensorVariable
        The tensor.
    dim : dict, optional
        The dimension, and the number of positions of a window.
    min_periods : int, optional
        Minimum number of non-nan elements in a window; by default all its positions.
    center : bool
        Whether a window has its position in the middle, rather than at the
        end.
    **window_kwargs : int
        The dict as a keyword.

    Returns
    -------
    Rolling
        Its methods reduce each window.

    Examples
    --------
    >>> from bitale import xtensor as px
    >>> px.as_xtensor([1.0, 2.0, 4.0], dims="year").rolling(year=2).mean().values.eval()
    array([nan, 1.5, 3. ])
    """
    name, length = _one_dimension(dim, window_kwargs, "rolling")
    return _core.xtensor_rolling(x, name, _whole(length, "rolling"), min_periods, center)


def shift(
    x: Any, /, shifts: Mapping[str, int] | None = None, fill_value: Any = None, **shifts_kwargs: int
) -> XTensorVariable:
    """Move elements along dimensions, whose coordinates stay.

    Parameters
    ----------
    x : XTensorVariable
        The tensor.
    shifts : dict, optional
        Number of positions, for each dimension.
    fill_value : scalar, optional
        Value for positions without an element; by default nan, and integers become floats.
    **shifts_kwargs : int
        The dict as keywords.

    Returns
    -------
    XTensorVariable
        The moved elements.
    """
    out = _core.xtensor_operand(x)
    for name, periods in either(shifts, shifts_kwargs, "shift").items():
        out = _core.xtensor_shift(out, name, _whole(periods, "shift"), fill_value)
    return out


def roll(
    x: Any, /, shifts: Mapping[str, int] | None = None, **shifts_kwargs: int
) -> XTensorVariable:
    """The elements shifted cyclically along dimensions, whose coordinates stay."""
    out = _core.xtensor_operand(x)
    for name, periods in either(shifts, shifts_kwargs, "roll").items():
        out = _core.xtensor_roll(out, name, _whole(periods, "roll"))
    return out


def diff(x: Any, dim: Any, n: int = 1, label: str = "upper") -> XTensorVariable:
    """Differences of neighbours along a dimension, taken `n` times; `label` says whose coordinates they have, "upper" or "lower"."""
    if label not in ("upper", "lower"):
        raise ValueError(f'diff: expected label "upper" or "lower", got {label!r}')
    return _core.xtensor_diff(_core.xtensor_operand(x), dim, n, label == "upper")


def interp(
    x: Any, /, coords: Mapping[str, Any] | None = None, method: str = "linear", **coords_kwargs: Any
) -> XTensorVariable:
    """Interpolate between the coordinates of dimensions.

    Parameters
    ----------
    x : XTensorVariable
        The tensor.
    coords : dict, optional
        For each dimension, whose coordinates are numbers, where to
        interpolate: a scalar, a vector, or labelled numbers, constant or not.
    method : str
        'linear' or 'nearest'.
    **coords_kwargs : object
        The dict as keywords.

    Returns
    -------
    XTensorVariable
        The values; nan outside the coordinates.

    Raises
    ------
    ValueError
        For a dimension without coordinates.
    NotImplementedError
        For coordinates that are not numbers, or not all different.
    """
    out = _core.xtensor_operand(x)
    for key, target in either(coords, coords_kwargs, "interp").items():
        out = _core.xtensor_interp(out, key, target, method)
    return out


def vectorize_graph(outputs: Any, replace: Mapping[Any, Any], *, new_tensor_dims: Any = ()) -> Any:
    """Compute labelled expressions for inputs with further dimensions.

    Parameters
    ----------
    outputs : XTensorVariable or sequence of it
        The expressions.
    replace : dict
        Labelled inputs, and what replaces them: tensors with the same
        dimensions and others.
    new_tensor_dims : sequence of str
        Accepted for compatibility with PyTensor, where inputs without labels
        need it.

    Returns
    -------
    XTensorVariable or list of XTensorVariable
        The expressions, with the other dimensions in front.

    Raises
    ------
    ValueError
        If a replacement lacks a dimension.

    Examples
    --------
    >>> from bitale import xtensor as px
    >>> x = px.xtensor("x", dims="year")
    >>> draws = px.xtensor("draws", dims=("draw", "year"))
    >>> px.vectorize_graph(x.sum(), {x: draws}).dims
    ('draw',)
    """
    several = isinstance(outputs, (list, tuple))
    found = _core.xtensor_vectorize_graph(list(outputs) if several else [outputs], dict(replace))
    return found if several else found[0]
