"""Selection of parts of labelled tensors: by positions (isel, head, tail, thin) and by labels (sel, loc).

Labels are looked up in the coordinates while the expression is built, so a selection by labels is one by positions."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import numpy as np

from bitale import _core
from bitale._core import Dim, Variable, XTensorVariable, is_data_array
from bitale.xtensor.shape import either

__all__ = ["Locations", "head", "isel", "positions", "sel", "tail", "thin"]


def isel(x: Any, indexers: Mapping[str, Any] | None = None, drop: bool = False, missing_dims: str = "raise", **indexers_kwargs: Any) -> XTensorVariable:
    """Select by positions.

    Parameters
    ----------
    x : XTensorVariable
        The tensor.
    indexers : dict, optional
        For each dimension an integer, which drops it, a slice, a mask, a
        vector of integers, or labelled integers. Labelled ones are aligned by
        names: with a common dimension they select points.
    drop : bool
        Accepted for compatibility with xarray: coordinates without a dimension
        are always dropped.
    missing_dims : str
        'raise', 'warn' or 'ignore' names that `x` does not have.
    **indexers_kwargs : object
        The dict as keywords.

    Returns
    -------
    XTensorVariable
        The elements. Its methods `set` and `inc` give a changed copy of `x`.

    Raises
    ------
    ValueError
        For a name that is not there.
    IndexError
        For what is no index, and positions that are known to be out of range.

    Examples
    --------
    >>> from bitale import xtensor as px
    >>> x = px.as_xtensor(np.arange(6.0).reshape(2, 3), dims=("country", "year"))
    >>> x.isel(year=[0, 2]).values.eval()
    array([[0., 2.],
           [3., 5.]])
    """
    return _core.xtensor_operand(x)._isel(dict(either(indexers, indexers_kwargs, "isel")), missing_dims)


def _counts(x: XTensorVariable, given: Any, keywords: Mapping[str, Any], who: str) -> dict[str, Any]:
    """For each dimension a number of positions; one number is for all."""
    if given is None and not keywords:
        given = 5 if who != "thin" else None
    if given is None and not keywords:
        raise TypeError("thin: expected a step, for all dimensions or for each by name")
    if isinstance(given, (int, np.integer, Variable)):
        return dict.fromkeys(x.dims, given)
    return dict(either(given, keywords, who))


def head(x: XTensorVariable, indexers: Any = None, **indexers_kwargs: Any) -> XTensorVariable:
    """The first positions, by default 5 of each dimension."""
    return x._isel({name: slice(count) for name, count in _counts(x, indexers, indexers_kwargs, "head").items()})


def tail(x: XTensorVariable, indexers: Any = None, **indexers_kwargs: Any) -> XTensorVariable:
    """The last positions, by default 5 of each dimension."""
    found = {}
    for name, count in _counts(x, indexers, indexers_kwargs, "tail").items():
        start = x.sizes[name] - count
        found[name] = slice(None) if isinstance(count, int) and count == 0 else slice(_core.maximum(start, 0) if name in x.dims else None, None)
        if isinstance(count, int):
            found[name] = slice(-count, None) if count else slice(0, 0)
    return x._isel(found)


def thin(x: XTensorVariable, indexers: Any = None, **indexers_kwargs: Any) -> XTensorVariable:
    """Every n-th position."""
    return x._isel({name: slice(None, None, step) for name, step in _counts(x, indexers, indexers_kwargs, "thin").items()})


# ---- labels ----------------------------------------------------------------------------------------------------------


def _near(labels: list[Any], label: Any) -> str:
    """What may have been meant, for a message."""
    if isinstance(label, str):
        found = difflib.get_close_matches(label, [each for each in labels if isinstance(each, str)], 1, 0.5)
        return f"; did you mean {found[0]!r}?" if found else ""
    try:
        return f"; the nearest is {min(labels, key=lambda each: abs(each - label))!r}" if labels else ""
    except TypeError:
        return ""


def _comparable(dim: Dim, label: Any) -> Any:
    if dim.coords.dtype.kind in "mM" and isinstance(label, str):
        raise NotImplementedError(f"sel: {dim.name}: a text beside dates; expected a numpy.datetime64 or numpy.timedelta64, got {label!r}")
    return label


def _exact(dim: Dim, label: Any) -> int:
    found = np.flatnonzero(np.asarray([each == label for each in dim.coords.tolist()] if dim.coords.dtype == object else dim.coords == label))
    if len(found) == 1:
        return int(found[0])
    if len(found) > 1:
        raise KeyError(f"sel: the label {label!r} is at {len(found)} positions of {dim.name!r}; isel takes positions")
    raise KeyError(f"sel: {dim.name!r} has no label {label!r}{_near(dim.coords.tolist(), label)}")


def _one(dim: Dim, label: Any, method: str | None, tolerance: Any) -> int:
    label = _comparable(dim, label)
    if method is None:
        return _exact(dim, label)
    distance = {
        "nearest": lambda: np.abs(dim.coords - label),
        "pad": lambda: np.where(dim.coords <= label, np.abs(label - dim.coords), np.abs(label - dim.coords) * np.inf),
        "backfill": lambda: np.where(dim.coords >= label, np.abs(dim.coords - label), np.abs(label - dim.coords) * np.inf),
    }.get({"ffill": "pad", "bfill": "backfill"}.get(method, method))
    if distance is None:
        raise ValueError(f'sel: expected method None, "nearest", "pad" or "backfill", got {method!r}')
    if dim.coords.dtype.kind not in "iuf":
        raise NotImplementedError(f"sel: {dim.name}: method={method!r} of labels that are no numbers")
    found = distance()
    best = int(np.flatnonzero(found == found.min())[-1]) if len(found) else 0
    limit = np.inf if tolerance is None else tolerance
    if not len(found) or not found[best] < np.inf or found[best] > limit:
        raise KeyError(f"sel: {dim.name!r} has no label near {label!r} (method={method!r}, tolerance={tolerance!r})")
    return best


def _range(dim: Dim, labels: slice) -> slice:
    """The positions from one label to another, both included."""
    coords = dim.coords
    ends = [None if each is None else _comparable(dim, each) for each in (labels.start, labels.stop)]
    ascending, descending = (bool(np.all(x <= y)) for x, y in ((coords[:-1], coords[1:]), (coords[1:], coords[:-1])))
    if ascending:
        start = None if ends[0] is None else int(np.searchsorted(coords, ends[0], "left"))
        stop = None if ends[1] is None else int(np.searchsorted(coords, ends[1], "right"))
    elif descending:
        start = None if ends[0] is None else len(coords) - int(np.searchsorted(coords[::-1], ends[0], "right"))
        stop = None if ends[1] is None else len(coords) - int(np.searchsorted(coords[::-1], ends[1], "left"))
    else:
        start = None if ends[0] is None else _exact(dim, ends[0])
        stop = None if ends[1] is None else _exact(dim, ends[1]) + 1
    return slice(start, stop, labels.step)


def positions(dim: Dim, label: Any, method: str | None = None, tolerance: Any = None) -> Any:
    """The positions that labels stand for: an index for isel.

    Parameters
    ----------
    dim : Dim
        The dimension, with coordinates.
    label : object
        A label, a slice from one to another, which is included, a list of
        labels, a mask, or a labelled constant.
    method : str, optional
        'nearest', 'pad' or 'backfill' for a label that is not there.
    tolerance : float, optional
        How far that label may be.

    Returns
    -------
    int, slice, numpy.ndarray or XTensorVariable
        The positions.

    Raises
    ------
    KeyError
        For a label that is not there, with the nearest one.
    """
    if dim.coords is None:
        raise ValueError(f"sel: {dim.name!r} has no coordinates to look up labels in; isel takes positions, and assign_coords gives coordinates")
    if isinstance(label, slice):
        return _range(dim, label)
    if isinstance(label, XTensorVariable) or is_data_array(label):
        labels = np.asarray(_core.constant_value(label.values) if isinstance(label, XTensorVariable) and label.values.owner is None else label.values)
        if isinstance(label, XTensorVariable) and not hasattr(label.values, "data"):
            raise NotImplementedError(f"sel: {dim.name}: labels are looked up while the expression is built, so they can't be computed: {label!r}")
        return label_array(dim, labels, method, tolerance, label.dims)
    if isinstance(label, Variable):
        raise NotImplementedError(f"sel: {dim.name}: labels are looked up while the expression is built, so they can't be computed: {label}")
    if isinstance(label, (list, np.ndarray)) and np.ndim(label) > 0:
        array = np.asarray(label)
        if array.dtype == bool:
            return array
        return label_array(dim, array, method, tolerance, None)
    return _one(dim, label.item() if isinstance(label, np.ndarray) else label, method, tolerance)


def label_array(dim: Dim, labels: Any, method: str | None, tolerance: Any, dims: Any) -> Any:
    """The positions of several labels, with the names of their dimensions if they have any."""
    found = np.array([_one(dim, each, method, tolerance) for each in labels.ravel().tolist()], dtype=np.int64).reshape(labels.shape)
    return found if dims is None else _core.xtensor_of_values(_core.constant(found), list(dims))


def sel(
    x: Any, indexers: Mapping[str, Any] | None = None, method: str | None = None, tolerance: Any = None, drop: bool = False, **indexers_kwargs: Any
) -> XTensorVariable:
    """Select by labels.

    Parameters
    ----------
    x : XTensorVariable
        The tensor.
    indexers : dict, optional
        For each dimension a label, which drops it, a slice from one label to
        another, which is included, a list of labels, or labelled constants.
    method : str, optional
        'nearest', 'pad' or 'backfill': which label to take for one that is not
        there.
    tolerance : float, optional
        How far that label may be.
    drop : bool
        Accepted for compatibility with xarray.
    **indexers_kwargs : object
        The dict as keywords.

    Returns
    -------
    XTensorVariable
        The elements.

    Raises
    ------
    KeyError
        For a label that is not there; the error says which is near.
    ValueError
        For a dimension that is not there, or has no coordinates.

    See Also
    --------
    isel

    Examples
    --------
    >>> from bitale import xtensor as px
    >>> year = px.Dim("year", coords=[1990, 2000, 2010])
    >>> x = px.as_xtensor([1.0, 2.0, 3.0], dims=year)
    >>> x.sel(year=slice(2000, None)).values.eval()
    array([2., 3.])
    """
    labelled = _core.xtensor_operand(x)
    given = dict(either(indexers, indexers_kwargs, "sel"))
    dims = {dim.name: dim for dim in labelled.dimensions}
    for name in given:
        if name not in dims:
            labelled._isel({name: 0})  # says that there is no such dimension
    return labelled._isel({name: positions(dims[name], label, method, tolerance) for name, label in given.items()})


class Locations:
    """Selection by labels in the order of the dimensions, ``x.loc["DE", 1990:2000]``, or by a dict of names."""

    def __init__(self, x: XTensorVariable):
        self._x = x

    def __getitem__(self, key: Any) -> XTensorVariable:
        if isinstance(key, dict):
            return sel(self._x, key)
        keys = key if isinstance(key, tuple) else (key,)
        if Ellipsis in [each for each in keys if each is Ellipsis]:
            at = [each is Ellipsis for each in keys].index(True)
            keys = (*keys[:at], *[slice(None)] * (self._x.ndim - len(keys) + 1), *keys[at + 1 :])
        if len(keys) > self._x.ndim:
            raise IndexError(f"loc: {self._x!r} has {self._x.ndim} dimensions, but there are {len(keys)} indices")
        pairs = zip(self._x.dims, keys)
        return sel(self._x, {name: one for name, one in pairs if not (isinstance(one, slice) and one == slice(None))})
