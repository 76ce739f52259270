"""Convolutions of labelled tensors."""

from bitale._core import xtensor_convolve1d as convolve1d

__all__ = ["convolve1d"]
