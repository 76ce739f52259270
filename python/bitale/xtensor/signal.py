"""Convolutions of labelled tensors."""

from __future__ import annotations

from typing import Any

from bitale import _core
from bitale._core import XTensorVariable
from bitale.tensor import signal
from bitale.xtensor.blockwise import blockwise

__all__ = ["convolve1d"]


def convolve1d(in1: Any, in2: Any, mode: str = "full", *, dims: Any) -> XTensorVariable:
    """Convolve along dimensions.

    Parameters
    ----------
    in1 : XTensorVariable
        First operand.
    in2 : XTensorVariable
        Second operand.
    mode : str
        'full', 'valid' or 'same': which sums are returned.
    dims : sequence of str
        The dimension of `in1`, and that of `in2`.

    Returns
    -------
    XTensorVariable
        The convolution, along the dimension of `in1`, which has no coordinates.

    Raises
    ------
    ValueError
        For another number of dimensions, and names that are not there.
    """
    given = _core.xtensor_dims(dims)
    if len(given) != 2:
        raise ValueError(f"convolve1d: expected dims to be a dimension of in1 and one of in2, got {tuple(dim.name for dim in given)}")
    names = [[dim.name] for dim in given]
    found = blockwise("convolve1d", lambda x, y: signal.convolve1d(x, y, mode=mode), [in1, in2], names, [["_convolved"]])[0]
    return found._rename({"_convolved": names[0][0]})
