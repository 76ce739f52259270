"""Discrete Fourier transforms of real tensors. Complex numbers are real tensors whose last dimension has length 2: real and
imaginary part."""

from __future__ import annotations

from bitale._core import irfft, rfft
from bitale.tensor.op_classes import IRFFTOp, RFFTOp

__all__ = ["irfft", "rfft"]
