"""Sorting against NumPy."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt

X = np.random.default_rng(0).integers(-20, 20, (5, 40, 3)) / 4.0


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_axes(axis, mode):
    x = pt.tensor3("x")
    values, method, indices = bt.function([x], [pt.sort(x, axis), x.sort(axis), pt.argsort(x, axis)], mode=mode)(X)
    np.testing.assert_array_equal(values, np.sort(X, axis))
    np.testing.assert_array_equal(method, values)
    np.testing.assert_array_equal(indices, np.argsort(X, axis, kind="stable"))
    assert indices.dtype == np.int64


@pytest.mark.parametrize("dtype", [*"bBhHiIqQfd?"])
@pytest.mark.parametrize("length", [0, 1, 7, 33, 1000])
def test_dtypes(dtype, length, mode):
    bits = np.random.default_rng(length).integers(0, 256, 8 * length, dtype="u1").view(dtype)[:length]
    given = bits.astype("?") if dtype == "?" else bits
    x = pt.vector("x", dtype=given.dtype)
    values, indices = bt.function([x], [pt.sort(x), pt.argsort(x)], mode=mode)(given)
    np.testing.assert_array_equal(values, np.sort(given))
    np.testing.assert_array_equal(indices, np.argsort(given, kind="stable"))


def test_special_values(mode):
    given = np.array([1.0, np.nan, -0.0, 0.0, -np.inf, -np.nan, np.inf, -0.0] * 20)
    x = pt.vector("x", dtype="float64")
    values, indices = bt.function([x], [pt.sort(x), pt.argsort(x)], mode=mode)(given)
    np.testing.assert_array_equal(values, np.sort(given))
    np.testing.assert_array_equal(indices, np.argsort(given, kind="stable"))
    assert np.signbit(values).sum() == np.signbit(given[~np.isnan(given)]).sum() + np.signbit(values[np.isnan(values)]).sum()


def test_kinds():
    x = pt.vector("x")
    for kind in ["quicksort", "mergesort", "heapsort", "stable"]:
        assert pt.sort(x, kind=kind).ndim == 1
    with pytest.raises(ValueError, match="kind"):
        pt.argsort(x, kind="bogosort")
    with pytest.raises(NotImplementedError, match="order"):
        pt.sort(x, order="name")
    with pytest.raises(ValueError, match="axis"):
        pt.sort(x, 1)


def test_gradient(mode):
    x = pt.matrix("x", dtype="float64")
    weights = np.arange(6.0).reshape(2, 3)
    g = bt.function([x], pt.grad((pt.sort(x, axis=0) * weights).sum(), x), mode=mode)
    np.testing.assert_array_equal(g(np.array([[3.0, 1, 2], [0, 5, 1]])), [[3, 1, 5], [0, 4, 2]])
