"""Sorting and the largest elements against NumPy."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt


X = np.random.default_rng(0).integers(-20, 20, (5, 40, 3)) / 4.0


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_axes(axis, mode):
    x = pt.tensor3("x")
    values, method, indices = bt.function(
        [x], [pt.sort(x, axis), x.sort(axis), pt.argsort(x, axis)], mode=mode
    )(X)
    np.testing.assert_array_equal(values, np.sort(X, axis))
    np.testing.assert_array_equal(method, values)
    np.testing.assert_array_equal(indices, np.argsort(X, axis, kind="stable"))
    assert indices.dtype == np.int64


@pytest.mark.parametrize("dtype", [*"bBhHiIqQfd?"])
@pytest.mark.parametrize("length", [0, 1, 7, 33, 1000])
def test_dtypes(dtype, length, mode):
    bits = (
        np.random.default_rng(length).integers(0, 256, 8 * length, dtype="u1").view(dtype)[:length]
    )
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
    assert (
        np.signbit(values).sum()
        == np.signbit(given[~np.isnan(given)]).sum() + np.signbit(values[np.isnan(values)]).sum()
    )


@pytest.mark.parametrize(
    "dtype", ["float64", "float32", "float16", "int64", "int32", "uint64", "uint16"]
)
def test_few_different_values(dtype, mode):
    """Nearly all elements equal a number, and the others are close to it, in an order of magnitude of their own, or the dtype's limits."""
    rng, limits = (
        np.random.default_rng(3),
        np.finfo(dtype) if np.dtype(dtype).kind == "f" else np.iinfo(dtype),
    )
    x = pt.vector("x", dtype=dtype)
    function = bt.function([x], pt.sort(x), mode=mode)
    commons = [0.0, -0.0, 1.0, 3.0, limits.min, limits.max]
    for common in commons:
        for others in (
            [-1e-20, -1e-30],
            [1e-20, 1e-30, -2e-72],
            [0.0, -0.0, -1e-5],
            [-1.0, 2.0],
            [limits.min, limits.max],
        ):
            with np.errstate(all="ignore"):
                given = np.full(450, common).astype(dtype)
                chosen = np.array(
                    [each for each in others if given.dtype.kind != "u" or each >= 0]
                ).astype(dtype)
            given[rng.choice(450, len(chosen), replace=False)] = chosen
            np.testing.assert_array_equal(function(given), np.sort(given), f"{common}, {others}")


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


# ---- largest elements ------------------------------------------------------------------------------------------------


def test_largest_elements():
    x = pt.dmatrix("x")
    values = np.random.default_rng(3).normal(size=(4, 5))
    for axis in (0, 1, -1):
        for k in (1, 3, -2):
            top, indices = bt.function([x], pt.topk_and_argtopk(x, k, axis))(values)
            kept = slice(-k, None) if k > 0 else slice(-k)
            expected = np.moveaxis(np.moveaxis(np.sort(values, axis), axis, 0)[kept], 0, axis)
            np.testing.assert_array_equal(top, expected)
            np.testing.assert_array_equal(np.take_along_axis(values, indices, axis), top)
    assert (
        pt.topk(x, 2, None).type.shape == (2,)
        and pt.argtopk(x, 2, idx_dtype="int32").dtype == "int32"
    )
    np.testing.assert_array_equal(
        bt.grad(pt.topk(x, 5).sum(), x).eval({x: values}), np.ones((4, 5))
    )
    with pytest.raises(bt.ShapeError):
        pt.topk(x, 6).eval({x: values})
    with pytest.raises(ValueError, match="k is 0"):
        pt.topk(x, 0)
    with pytest.raises(TypeError, match="kth"):
        pt.topk(x, 1.5)
    with pytest.raises(NotImplementedError, match="kth"):
        pt.topk(x, pt.lscalar())
