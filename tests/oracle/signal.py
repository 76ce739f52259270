"""Fourier transforms by NumPy, and convolutions as explicit sums."""

from __future__ import annotations

from typing import Any

import numpy as np

from .values import Val, formula, val, working_dtype


def _float_dtype(x: Val) -> np.dtype:
    return np.dtype("float32" if x.dtype in (np.float16, np.float32) else "float64")


def _pairs(z: np.ndarray, dtype: np.dtype) -> Val:
    return Val(np.stack([z.real, z.imag], axis=-1), dtype)


def _complex(z: Val) -> np.ndarray:
    array = z.array.astype(working_dtype(_float_dtype(z)))
    return array[..., 0] + 1j * array[..., 1]


@formula(ulps=2, backward=8)
def rfft(inp: Any, norm: str | None = None) -> Val:
    x = val(inp)
    dtype = _float_dtype(x)
    axes = range(1, x.ndim)
    return _pairs(
        np.fft.rfftn(
            x.array.astype(working_dtype(dtype)),
            axes=axes,
            norm="ortho" if norm == "ortho" else None,
        ),
        dtype,
    )


@formula(ulps=2, backward=8)
def irfft(inp: Any, norm: str | None = None, is_odd: bool = False) -> Val:
    z = val(inp)
    n = 2 * (z.shape[-2] - 1) + bool(is_odd)
    kind = {"ortho": "ortho", None: "backward", "no_norm": "forward"}[norm]
    lengths = (*z.shape[1:-2], n)
    return Val(
        np.fft.irfftn(_complex(z), s=lengths, axes=range(1, z.ndim - 1), norm=kind), _float_dtype(z)
    )


@formula(ulps=2, backward=8)
def rfft_rows(x: Any) -> Val:
    x = val(x)
    return _pairs(np.fft.rfft(x.array.astype(working_dtype(_float_dtype(x)))), _float_dtype(x))


@formula(ulps=2, backward=8)
def irfft_rows(z: Any, n: Any) -> Val:
    return Val(
        np.fft.irfft(_complex(val(z)), n=int(val(n).array), norm="forward"), _float_dtype(val(z))
    )


@formula(ulps=2, backward=8)
def fft_rows(z: Any, inverse: bool = False) -> Val:
    transform = np.fft.ifft if inverse else np.fft.fft
    return _pairs(
        transform(_complex(val(z)), norm="forward" if inverse else None), _float_dtype(val(z))
    )


@formula(ulps=2, backward=8)
def convolved(x: Any, y: Any, starts: tuple[int, ...], lengths: tuple[int, ...]) -> Val:
    """The sums over j of x[start + i - j] y[j] for 0 <= i < length, over the last dimensions."""
    x, y = val(x), val(y)
    dims = len(starts)
    common = np.result_type(x.dtype, y.dtype)
    dtype = np.dtype("int64") if common == bool else common
    a, b = (each.array.astype(working_dtype(dtype)) for each in (x, y))
    batch = np.broadcast_shapes(a.shape[: a.ndim - dims], b.shape[: b.ndim - dims])
    a, b = (np.broadcast_to(each, batch + each.shape[each.ndim - dims :]) for each in (a, b))
    out = np.zeros(batch + tuple(lengths), a.dtype)
    for j in np.ndindex(b.shape[b.ndim - dims :]):
        to, source = [], []
        for start, length, n, offset in zip(starts, lengths, a.shape[a.ndim - dims :], j):
            first = start - offset  # x's index for i = 0
            low, high = max(0, -first), min(length, n - first)
            to.append(slice(low, max(low, high)))
            source.append(slice(low + first, max(low, high) + first))
        out[(..., *to)] += a[(..., *source)] * b[(..., *j)][(..., *[None] * dims)]
    return Val(out, dtype)


def _range_of(n: int, k: int, mode: str) -> tuple[int, int]:
    return {
        "full": (0, n + k - 1),
        "valid": (min(n, k) - 1, max(n, k) - min(n, k) + 1),
        "same": ((k - 1) // 2, n),
    }[mode]


def convolve1d(in1: Any, in2: Any, mode: str = "full") -> Val:
    start, length = _range_of(val(in1).shape[-1], val(in2).shape[-1], mode)
    return convolved(in1, in2, (start,), (length,))


def convolve2d(in1: Any, in2: Any, mode: str = "full") -> Val:
    ranges = [_range_of(val(in1).shape[axis], val(in2).shape[axis], mode) for axis in (-2, -1)]
    return convolved(
        in1, in2, tuple(start for start, _ in ranges), tuple(length for _, length in ranges)
    )
