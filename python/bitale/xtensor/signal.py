"""Convolutions of labelled tensors."""

from __future__ import annotations

from typing import Any

from bitale import _core
from bitale._core import XTensorVariable

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
    return _core.xtensor_convolve1d(in1, in2, dims, mode)
