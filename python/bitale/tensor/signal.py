"""Convolutions of vectors and matrices, and of batches of them."""

from __future__ import annotations

from typing import Any

from bitale._geography import add_modules as _add_modules
from bitale._core import (
    TensorVariable,
    as_tensor_variable,
    complex,
    convolve1d,
    convolve2d_direct,
    imag,
    maximum,
    minimum,
    real,
    stack,
)
from bitale._core import pad
from bitale.tensor.fft import irfft, rfft

_slice: Any = slice  # whose bounds are variables

__all__ = ["convolve1d", "convolve2d"]

_boundaries = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}


def convolve2d(
    in1: Any,
    in2: Any,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: Any = 0,
    method: str = "auto",
) -> TensorVariable:
    """Two-dimensional convolution.

    Parameters
    ----------
    in1 : tensor_like
        First operand, of shape (..., m, n).
    in2 : tensor_like
        Second operand, of shape (..., k, l).
    mode : str
        As in `convolve1d`, for each dimension.
    boundary : str
        What surrounds `in1`: 'fill' (`fillvalue` everywhere), 'wrap' (`in1`,
        periodically) or 'symm' (`in1` mirrored).
    fillvalue : scalar
        Value of 'fill'.
    method : str
        'direct' sums (also used for 'auto'), or 'fft', for large `in2`, with errors relative to the
        largest element.

    Returns
    -------
    TensorVariable
        Convolution over the last two dimensions; batch dimensions are
        broadcast.

    See Also
    --------
    convolve1d

    Examples
    --------
    >>> pt.signal.convolve2d(np.ones((2, 2)), np.ones((2, 2))).eval()
    array([[1., 2., 1.],
           [2., 4., 2.],
           [1., 2., 1.]])
    """
    if mode not in ("full", "valid", "same"):
        raise ValueError(f'convolve2d: expected mode "full", "valid" or "same", got {mode!r}')
    if boundary not in _boundaries:
        raise ValueError(
            f'convolve2d: expected boundary "fill", "wrap" or "symm", got {boundary!r}'
        )
    if method not in ("auto", "direct", "fft"):
        raise ValueError(f'convolve2d: expected method "auto", "direct" or "fft", got {method!r}')
    x, y = as_tensor_variable(in1), as_tensor_variable(in2)
    if x.ndim < 2 or y.ndim < 2:
        raise ValueError(
            f"convolve2d: expected two operands of 2 dimensions or more, got {x.ndim} and {y.ndim}"
        )
    is_zero = not isinstance(fillvalue, TensorVariable) and fillvalue == 0
    if mode != "valid" and not (boundary == "fill" and is_zero):
        # The boundary is appended to the array; then every sum stays within it.
        around = []
        for axis in (-2, -1):
            k = y.shape[axis] - 1
            around.append((k, k) if mode == "full" else (k - k // 2, k // 2))
        width = [(0, 0)] * (x.ndim - 2) + around
        options = {"constant_values": fillvalue} if boundary == "fill" else {}
        x, mode = pad(x, width, _boundaries[boundary], **options), "padded"
    if method == "fft":
        return _by_transforms(x, y, mode)
    return convolve2d_direct(x, y, "valid" if mode == "padded" else mode)


def _by_transforms(x: TensorVariable, y: TensorVariable, mode: str) -> TensorVariable:
    """The product of both transforms, of lengths that no sum goes around. Complex operands are transformed by parts."""
    if y.dtype.startswith("complex"):
        a, b = _by_transforms(x, real(y), mode), _by_transforms(x, imag(y), mode)
        return complex(real(a) - imag(b), imag(a) + real(b))
    if x.dtype.startswith("complex"):
        return complex(_by_transforms(real(x), y, mode), _by_transforms(imag(x), y, mode))
    lengths = [x.shape[axis] + y.shape[axis] - 1 for axis in (-2, -1)]
    even = [lengths[0], lengths[1] + lengths[1] % 2]

    def transform(a: TensorVariable) -> TensorVariable:
        width = [(0, 0)] * (a.ndim - 2) + [
            (0, even[k] - a.shape[axis]) for k, axis in enumerate((-2, -1))
        ]
        padded = pad(a, width)
        flat = padded.reshape((-1, even[0], even[1]))
        return rfft(flat).reshape(
            (*[a.shape[k] for k in range(a.ndim - 2)], even[0], even[1] // 2 + 1, 2)
        )

    a, b = transform(x), transform(y)
    re = a[..., 0] * b[..., 0] - a[..., 1] * b[..., 1]
    im = a[..., 0] * b[..., 1] + a[..., 1] * b[..., 0]
    product = stack([re, im], axis=-1)
    batch = [product.shape[k] for k in range(product.ndim - 3)]
    out = irfft(product.reshape((-1, even[0], even[1] // 2 + 1, 2))).reshape((*batch, *even))
    slices: list[Any] = []
    for axis, length in zip((-2, -1), lengths):
        n, k = x.shape[axis], y.shape[axis]
        if mode == "full":
            slices.append(slice(0, length))
        elif mode == "same":
            slices.append(_slice((k - 1) // 2, (k - 1) // 2 + n))
        elif mode == "padded":
            slices.append(_slice(k - 1, n))
        else:
            slices.append(_slice(minimum(n, k) - 1, maximum(n, k)))
    return out[(..., *slices)]


_add_modules(__name__)
