"""Discrete Fourier transforms."""

from __future__ import annotations

from typing import Any

import bitale.tensor.fft as _fft
from bitale import _core
from bitale.array_api._dtypes import as_dtype, check_device, default_float, of_kinds
from bitale.array_api._eager import Array, named, standard

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]


def _line(name: str, function: Any, kinds: str, doc: str) -> Any:
    def transform(
        x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward"
    ) -> Any:
        return function(of_kinds(x, name, kinds), n=n, axis=axis, norm=norm)

    return named(transform, name, doc)


def _grid(name: str, function: Any, kinds: str, doc: str) -> Any:
    def transform(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
        return function(of_kinds(x, name, kinds), s=s, axes=axes, norm=norm)

    return named(transform, name, doc)


fft = _line("fft", _fft.fft, "fc", "The transform along an axis.")
ifft = _line("ifft", _fft.ifft, "fc", "The inverse of fft.")
rfft = _line("rfft", _core._rfft, "f", "The first half of fft of real numbers.")
irfft = _line("irfft", _core._irfft, "fc", "The inverse of rfft.")
hfft = _line(
    "hfft",
    _fft.hfft,
    "fc",
    "The transform of numbers of which x is the first half, and the other its conjugate.",
)
ihfft = _line("ihfft", _fft.ihfft, "f", "The inverse of hfft.")
fftn = _grid("fftn", _fft.fftn, "fc", "The transform along several axes.")
ifftn = _grid("ifftn", _fft.ifftn, "fc", "The inverse of fftn.")
rfftn = _grid(
    "rfftn", _fft.rfftn, "f", "The half of fftn of real numbers that determines the other."
)
irfftn = _grid("irfftn", _fft.irfftn, "fc", "The inverse of rfftn.")


@standard
def fftshift(x: Any, /, *, axes: Any = None) -> Any:
    """Rotated such that the frequency 0 is in the middle."""
    return _fft.fftshift(of_kinds(x, "fftshift", "fc"), axes)


@standard
def ifftshift(x: Any, /, *, axes: Any = None) -> Any:
    """The inverse of fftshift."""
    return _fft.ifftshift(of_kinds(x, "ifftshift", "fc"), axes)


def _frequencies(function: Any, n: Any, d: Any, dtype: Any, device: Any) -> Any:
    check_device(device)
    target = as_dtype(dtype or default_float())
    if target.kind != "f":
        raise TypeError(f"expected a real floating dtype, got {target.name}")
    out = function(n, d=d, dtype=target.name)
    return Array._of(out.eval()) if isinstance(n, int) and isinstance(d, (int, float)) else out


def fftfreq(n: Any, /, *, d: Any = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """The frequencies of the elements of fft."""
    return _frequencies(_fft.fftfreq, n, d, dtype, device)


def rfftfreq(n: Any, /, *, d: Any = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """The frequencies of the elements of rfft."""
    return _frequencies(_fft.rfftfreq, n, d, dtype, device)
