"""Coordinates of grids by slices, and slices of variables."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bitale._core import TensorVariable, arange, broadcast_arrays, linspace

__all__ = ["make_slice", "mgrid", "ogrid"]


class _Grid:
    """Coordinates by slices: grid[0:3, 0:1:0.5]; a number of points is written as an imaginary step, 5j."""

    def __init__(self, is_sparse: bool):
        self._is_sparse = is_sparse

    def __getitem__(self, key: Any) -> Any:
        slices = key if isinstance(key, tuple) else (key,)
        axes: list[Any] = []
        for each in slices:
            if not isinstance(each, slice):
                raise TypeError(f"expected slices, got {each!r}")
            start = 0 if each.start is None else each.start
            step = 1 if each.step is None else each.step
            if isinstance(step, complex):
                axes.append(linspace(start, each.stop, int(math.hypot(step.real, step.imag))))
            else:
                axes.append(arange(start, each.stop, step))
        if not isinstance(key, tuple):
            return axes[0]
        n = len(axes)
        sparse = [
            axis.dimshuffle(*["x"] * i, 0, *["x"] * (n - 1 - i)) for i, axis in enumerate(axes)
        ]
        return sparse if self._is_sparse else broadcast_arrays(*sparse)


mgrid = _Grid(False)
ogrid = _Grid(True)


def make_slice(slc: Any, stop: Any = None, step: Any = None) -> slice:
    """Make a slice whose bounds may be variables.

    Parameters
    ----------
    slc : slice, int or scalar tensor
        Slice, which is returned as it is; or its start.
    stop : int or scalar tensor, optional
        End.
    step : int or scalar tensor, optional
        Step.

    Returns
    -------
    slice
        The slice.

    Examples
    --------
    >>> x = pt.dvector("x")
    >>> x[pt.make_slice(1, x.shape[0] - 1)].eval({x: [1.0, 2.0, 3.0, 4.0]})
    array([2., 3.])
    """
    if isinstance(slc, slice):
        if stop is not None or step is not None:
            raise ValueError("make_slice: a slice has its own stop and step")
        return slc
    for each in (slc, stop, step):
        is_bound = each is None or isinstance(each, (int, np.integer))
        if not is_bound and not (isinstance(each, TensorVariable) and each.ndim == 0):
            raise TypeError(f"make_slice: expected an integer, a scalar or None, got {each!r}")
    return slice(slc, stop, step)
