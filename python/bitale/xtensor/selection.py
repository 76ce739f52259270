"""Selection of parts of labelled tensors: by positions (isel, head, tail, thin) and by labels (sel, loc).

Labels are looked up in the coordinates while the expression is built, so a selection by labels becomes one by positions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bitale import _core
from bitale._core import XTensorVariable
from bitale.xtensor.shape import either

__all__ = ["Locations", "head", "isel", "sel", "tail", "thin"]


def isel(
    x: Any,
    /,
    indexers: Mapping[str, Any] | None = None,
    drop: bool = False,
    missing_dims: str = "raise",
    **indexers_kwargs: Any,
) -> XTensorVariable:
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
        For anything that is not an index, and positions known to be out of range.

    Examples
    --------
    >>> from bitale import xtensor as px
    >>> x = px.as_xtensor(np.arange(6.0).reshape(2, 3), dims=("country", "year"))
    >>> x.isel(year=[0, 2]).values.eval()
    array([[0., 2.],
           [3., 5.]])
    """
    return _core.xtensor_operand(x)._isel(
        dict(either(indexers, indexers_kwargs, "isel")), missing_dims
    )


def head(x: Any, /, indexers: Any = None, **indexers_kwargs: Any) -> XTensorVariable:
    """The first positions, by default 5 of each dimension."""
    return _core.xtensor_operand(x).head(indexers, **indexers_kwargs)


def tail(x: Any, /, indexers: Any = None, **indexers_kwargs: Any) -> XTensorVariable:
    """The last positions, by default 5 of each dimension."""
    return _core.xtensor_operand(x).tail(indexers, **indexers_kwargs)


def thin(x: Any, /, indexers: Any = None, **indexers_kwargs: Any) -> XTensorVariable:
    """Every n-th position."""
    return _core.xtensor_operand(x).thin(indexers, **indexers_kwargs)


# ---- labels ----------------------------------------------------------------------------------------------------------


def sel(
    x: Any,
    /,
    indexers: Mapping[str, Any] | None = None,
    method: str | None = None,
    tolerance: Any = None,
    drop: bool = False,
    **indexers_kwargs: Any,
) -> XTensorVariable:
    """Select by labels.

    Parameters
    ----------
    x : XTensorVariable
        The tensor.
    indexers : dict, optional
        For each dimension a label, which drops it (or selects all of its
        positions if it has several), a slice from one label to another, which
        is included, a list of labels, or labelled constants.
    method : str, optional
        'nearest', 'pad' or 'backfill': which label to use for one that does not exist.
    tolerance : float, optional
        Maximum distance of that label.
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
        For a label that does not exist; the error names a similar one.
    ValueError
        For a dimension that does not exist or has no coordinates, and for ``method=`` if
        coordinates are not monotonic.

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
    return _core.xtensor_sel(x, dict(either(indexers, indexers_kwargs, "sel")), method, tolerance)


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
            raise IndexError(
                f"loc: {self._x!r} has {self._x.ndim} dimensions, but there are {len(keys)} indices"
            )
        pairs = zip(self._x.dims, keys)
        return sel(
            self._x,
            {
                name: one
                for name, one in pairs
                if not (isinstance(one, slice) and one == slice(None))
            },
        )
