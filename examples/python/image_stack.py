"""A stack of images over (time, y, x): smoothed in space, averaged over windows of time, and each pixel regressed on a signal.

Dimensions are named, so nothing depends on their order, and coordinates select the frames of a
period. The same computation without names follows.
"""

import os

import numpy as np

import bitale as bt
import bitale.tensor as pt
from bitale import xtensor as px

rng = np.random.default_rng(4)
size, frames = (16, 24) if os.environ.get("BITALE_EXAMPLE_QUICK") else (96, 200)
seconds = np.arange(frames) * 0.5
signal = np.sin(seconds)
rows, columns = np.mgrid[:size, :size] / size
response = np.exp(-((rows - 0.4) ** 2 + (columns - 0.6) ** 2) / 0.02)
stack = signal[:, None, None] * response + rng.normal(0, 0.7, (frames, size, size))

time = px.Dim("time", coords=seconds)
images, covariate = px.xtensor("images", dims=(time, "y", "x")), px.xtensor("covariate", dims=time)
taps = np.exp(-(np.linspace(-2, 2, 9) ** 2))
kernel = px.as_xtensor(taps / taps.sum(), dims="tap")


def smoothed(stack):
    for name in ("y", "x"):
        stack = px.signal.convolve1d(stack, kernel, "same", dims=(name, "tap"))
    return stack


def centred(x):
    return x - x.mean("time")


def slopes(stack):
    """The slope of each pixel's regression on the covariate."""
    return px.dot(centred(stack), centred(covariate), dim="time") / (centred(covariate) ** 2).sum(
        "time"
    )


slope = slopes(smoothed(images)).transpose("y", "x")
early = images.sel(time=slice(0.0, 5.0)).mean("time")
steady = images.rolling(time=4).mean().isel(time=slice(3, None)).var("time")
f = bt.function([images, covariate], [slope, early, steady])
slope_map, early_map, steady_map = (np.asarray(each) for each in f(stack, signal))

# The same without names: axes are numbers, and new ones have to be put in place.
a, c, k = images.values, covariate.values, pt.constant(taps / taps.sum())
b = pt.signal.convolve1d(a, k, mode="same")
b = pt.signal.convolve1d(b.transpose(0, 2, 1), k, mode="same").transpose(0, 2, 1)
c0 = c - c.mean()
plain = bt.function([a, c], ((b - b.mean(axis=0)) * c0[:, None, None]).sum(axis=0) / (c0**2).sum())
np.testing.assert_allclose(slope_map, plain(stack, signal), rtol=1e-9, atol=1e-12)
np.testing.assert_allclose(early_map, stack[seconds <= 5].mean(axis=0), rtol=1e-12)

likeness = np.corrcoef(slope_map.ravel(), response.ravel())[0, 1]
print(
    f"{frames} images of {size} x {size}: the map of slopes correlates with the response by {likeness:.3f}"
)
assert likeness > 0.7
