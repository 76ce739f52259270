"""Discrete Fourier transforms, with NumPy's names and arguments. `rfft` and `irfft` are PyTensor's, which take and return pairs of real numbers: tensors whose last dimension has length 2, real and imaginary part; `rfftn` and `irfftn` with one axis are NumPy's,
as are all others."""

from __future__ import annotations

from bitale._geography import absent
from bitale._core import (
    fft,
    fft2,
    fftfreq,
    fftn,
    fftshift,
    hfft,
    ifft,
    ifft2,
    ifftn,
    ifftshift,
    ihfft,
    irfft,
    irfft2,
    irfftn,
    rfft,
    rfft2,
    rfftfreq,
    rfftn,
)
from bitale.tensor.op_classes import IRFFTOp, RFFTOp

__all__ = ["fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "irfft", "irfft2",
           "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn"]  # fmt: skip

__getattr__ = absent(__name__)
