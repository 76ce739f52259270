"""What tests of complex numbers share: modes, dtypes, values, and gradients by differences."""

import numpy as np

import bitale as bt
import bitale.tensor as pt

modes = {
    "jit": bt.Mode("jit"),
    "c": bt.Mode("c"),
    "vm": bt.Mode("vm"),
    "as written": bt.Mode("jit", "None"),  # no rewriting: every node is a callback of the host
}
dtypes = ("complex64", "complex128")


def values(shape, dtype="complex128", seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)


def close(got, expected, scale=1.0):
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.dtype == expected.dtype and got.shape == expected.shape
    single = got.dtype in ("complex64", "float32")
    tolerance = (3e-5 if single else 1e-12) * scale
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


def gradient_by_differences(f, given, k):
    """The gradient d f / d real + i d f / d imag with respect to the k-th argument."""
    given = [np.array(each) for each in given]
    out = np.zeros(given[k].shape, "complex128")
    step = 1e-6
    for at in np.ndindex(given[k].shape):
        for unit in (1, 1j) if np.iscomplexobj(given[k]) else (1,):
            there = [each.copy() for each in given]
            back = [each.copy() for each in given]
            there[k][at] += unit * step
            back[k][at] -= unit * step
            out[at] += unit * (f(*there) - f(*back)) / (2 * step)
    return out if np.iscomplexobj(given[k]) else out.real


def check_gradient(build, *given):
    inputs = [pt.tensor(dtype=str(each.dtype), shape=(None,) * each.ndim) for each in given]
    cost = build(*inputs)
    f = bt.function(inputs, cost)
    for mode in ("jit", "vm"):
        got = bt.function(inputs, bt.grad(cost, inputs), mode=bt.Mode(mode))(*given)
        for k, each in enumerate(got):
            expected = gradient_by_differences(f, given, k)
            assert each.dtype == given[k].dtype
            np.testing.assert_allclose(each, expected, rtol=1e-6, atol=1e-7)


def cost_of(value):
    """A real cost to which real and imaginary parts contribute differently."""
    return (
        (value.real * 1.25).sum()
        + (pt.sqr(value.imag) * 0.75).sum()
        + (value.real * value.imag).sum()
    )
