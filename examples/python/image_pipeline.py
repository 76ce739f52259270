"""Restoring a blurred image: the width of the blur is found by maximum likelihood, and the blur is undone in the frequency domain.

The data are made by a convolution. The spectrum of the image and the width of the blur together
determine how strong each frequency should be, and the derivative with respect to the width is
exact, through the Fourier transforms.
"""

import os

import numpy as np

import bitale as bt
import bitale.tensor as pt

rng = np.random.default_rng(6)
size = 32 if os.environ.get("BITALE_EXAMPLE_QUICK") else 128
true_width, noise = 1.6, 0.02

# A picture of discs, and what a camera that is out of focus sees of it.
rows, columns = np.mgrid[:size, :size]
sharp = np.zeros((size, size))
for row, column, radius in rng.uniform([0, 0, size / 20], [size, size, size / 6], (12, 3)):
    sharp += (rows - row) ** 2 + (columns - column) ** 2 < radius**2
taps = np.arange(-12, 13)
image, width = pt.dmatrix("image"), pt.dscalar("width")
kernel = pt.exp(-0.5 * (taps / width) ** 2)
kernel = kernel / kernel.sum()
around = pt.pad(image, 12, mode="wrap")
camera = bt.function(
    [image, width], pt.signal.convolve2d(around, pt.outer(kernel, kernel), mode="valid")
)
seen = camera(sharp, true_width) + rng.normal(0, noise, (size, size))

# The blur of each frequency, as a function of its width.
fy, fx = np.fft.fftfreq(size), np.fft.rfftfreq(size)
squared = fy[:, None] ** 2 + fx[None, :] ** 2
transfer = pt.exp(-2 * (np.pi * width) ** 2 * squared)

# Edges have spectra that fall with the third power of the frequency; the level of the spectrum and the width are fitted.
log_level = pt.dscalar("log_level")
spectrum = pt.fft.rfft2(image)
power = pt.real(spectrum) ** 2 + pt.imag(spectrum) ** 2
prior = pt.exp(log_level) / (squared + 1e-3) ** 1.5
variance = transfer**2 * prior + size**2 * noise**2
loss = (pt.log(variance) + power / variance)[:, 1:].mean()
fit = bt.function([image, width, log_level], [loss, *bt.grad(loss, [width, log_level])])
found, level = 0.7, 0.0
for _ in range(300):
    value, by_width, by_level = fit(seen, found, level)
    found, level = found - 0.05 * np.clip(by_width, -1, 1), level - 0.5 * np.clip(by_level, -1, 1)

# Wiener's filter: the mean of the sharp image, given the blurred one.
wiener = transfer * prior / variance
restore = bt.function([image, width, log_level], pt.fft.irfft2(spectrum * wiener, s=(size, size)))
restored = restore(seen, found, level)


def error_of(picture):
    return np.sqrt(np.mean((picture - sharp) ** 2))


print(f"a blur of {true_width} pixels was estimated as {found:.2f}")
print(
    f"error of the blurred image {error_of(seen):.3f}, of the restored one {error_of(restored):.3f}"
)
assert abs(found - true_width) < 0.4 and error_of(restored) < 0.9 * error_of(seen)
