"""Loops over axes of few elements beside long ones: reductions along a short last axis, along a short first axis, and products with matrices of
few columns, beside NumPy, for lengths around the number of lanes. Shapes without elements, whose other lengths are large."""

from __future__ import annotations

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt

SHORT = [1, 2, 3, 5, 8, 9, 33]
LONG = [0, 1, 7, 16, 17, 40, 1003]


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def log_sum_exp(x: np.ndarray, axis: int) -> np.ndarray:
    high = np.max(x, axis=axis, keepdims=True)
    return np.squeeze(high, axis) + np.log(np.sum(np.exp(x - high), axis=axis))


REDUCTIONS = {
    "log-sum-exp": (lambda x, axis: pt.logsumexp(x, axis=axis), log_sum_exp),
    "sum of squares": (lambda x, axis: (x**2).sum(axis), lambda x, axis: (x**2).sum(axis)),
    "product": (lambda x, axis: pt.exp(x).prod(axis), lambda x, axis: np.exp(x).prod(axis)),
    "least": (lambda x, axis: pt.exp(x).min(axis), lambda x, axis: np.exp(x).min(axis)),
    "variance": (lambda x, axis: x.var(axis), lambda x, axis: x.var(axis)),
    "standardised": (
        lambda x, axis: (x - x.mean(axis, keepdims=True)) / (1 + x.std(axis, keepdims=True)),
        lambda x, axis: (x - x.mean(axis, keepdims=True)) / (1 + x.std(axis, keepdims=True)),
    ),
    "position": (lambda x, axis: pt.argmax(x, axis=axis), lambda x, axis: np.argmax(x, axis=axis)),
}


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("short", SHORT)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_along_a_short_axis(name: str, short: int, axis: int, dtype: str) -> None:
    ours, theirs = REDUCTIONS[name]
    if dtype == "int64" and name not in ("sum of squares", "position"):
        pytest.skip("float results")
    shape = (None, short) if axis == 1 else (short, None)
    x = pt.tensor("x", dtype=dtype, shape=shape)
    f = bt.function([x], ours(x, axis))
    for long in LONG:
        given = (3 * numbers(*(long, short) if axis == 1 else (short, long))).astype(dtype)
        np.testing.assert_allclose(
            f(given),
            theirs(given, axis),
            rtol=2e-5 if dtype == "float32" else 1e-12,
            atol=1e-6 if dtype == "float32" else 0,
        )


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("short", SHORT)
def test_value_and_gradients_of_a_mixture(short: int, axis: int) -> None:
    y, mu = pt.dvector("y"), pt.dvector("mu", shape=(short,))
    each = -0.5 * (pt.expand_dims(y, axis) - pt.expand_dims(mu, 1 - axis)) ** 2
    total = pt.sum(pt.logsumexp(each, axis=axis))
    f = bt.function([y, mu], [total, *bt.grad(total, [y, mu])])
    for long in LONG:
        at, means = numbers(long, seed=1), numbers(short, seed=2)
        deviations = at[:, None] - means[None]
        weights = np.exp(-0.5 * deviations**2)
        weights /= weights.sum(axis=1, keepdims=True)
        value, by_y, by_mu = f(at, means)
        np.testing.assert_allclose(value, log_sum_exp(-0.5 * deviations**2, 1).sum(), rtol=1e-12)
        np.testing.assert_allclose(by_y, -(weights * deviations).sum(1), rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(by_mu, (weights * deviations).sum(0), rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("columns", [1, 2, 7, 24, 32, 33])
@pytest.mark.parametrize("rows", [1, 15, 16, 17, 1003])
def test_regressions_with_a_constant_matrix(rows: int, columns: int, dtype: str) -> None:
    matrix, target = numbers(rows, columns).astype(dtype), numbers(rows, seed=3).astype(dtype)
    for order in ("C", "F"):
        b = pt.vector("b", dtype=dtype)
        total = pt.sum(
            (pt.as_tensor_variable(target) - pt.constant(np.array(matrix, order=order)) @ b) ** 2
        )
        f = bt.function([b], [total, bt.grad(total, b)])
        at = numbers(columns, seed=4).astype(dtype)
        residuals = target.astype(float) - matrix.astype(float) @ at
        value, gradient = f(at)
        tolerance = 1e-12 if dtype == "float64" else 1e-4
        np.testing.assert_allclose(value, residuals @ residuals, rtol=tolerance)
        np.testing.assert_allclose(
            gradient, -2 * residuals @ matrix, rtol=tolerance, atol=tolerance * rows
        )
        with pytest.raises(ValueError, match="dot|specify_shape"):
            f(numbers(columns + 1).astype(dtype))


def test_a_sum_of_negative_zeros_along_a_short_axis_has_the_sign_of_numpy() -> None:
    for axis, shape in ((0, (3, 20)), (1, (20, 3))):
        x = pt.tensor("x", dtype="float64", shape=shape)
        given = np.full(shape, -0.0)
        for ours, theirs in ((pt.sum, np.sum), (pt.max, np.max), (pt.prod, np.prod)):
            np.testing.assert_array_equal(
                np.signbit(bt.function([x], ours(x, axis=axis))(given)),
                np.signbit(theirs(given, axis=axis)),
            )


def test_nan_and_infinity_along_a_short_axis() -> None:
    given = np.array([[np.nan, 1.0, 2.0], [np.inf, -np.inf, 0.0], [-np.inf] * 3, [np.inf] * 3] * 5)
    for axis, array in ((1, given), (0, given.T.copy())):
        x = pt.tensor("x", dtype="float64", shape=array.shape)
        for ours, theirs in (
            (pt.max, np.max),
            (pt.min, np.min),
            (pt.sum, np.sum),
            (pt.logsumexp, log_sum_exp),
        ):
            with np.errstate(invalid="ignore"):
                expected = theirs(array, axis=axis)
            if ours is pt.logsumexp:
                expected = np.array([np.nan, np.inf, -np.inf, np.inf] * 5)
            np.testing.assert_array_equal(bt.function([x], ours(x, axis=axis))(array), expected)


@pytest.mark.parametrize(
    "shape", [(100_000, 0, 100_000), (0, 100_000, 100_000), (100_000, 100_000, 0)]
)
def test_arrays_without_elements_take_no_iterations(shape: tuple[int, ...]) -> None:
    x, row = pt.tensor("x", dtype="float64", shape=(None, None, None)), pt.dvector("row")
    f = bt.function([x, row], pt.exp(x.transpose(2, 0, 1)) + row)
    assert f(np.zeros(shape), np.zeros(shape[1])).shape == (shape[2], shape[0], shape[1])
    g = bt.function([x, row], (pt.exp(x.transpose(2, 0, 1)) + row).sum())
    assert g(np.zeros(shape), np.zeros(shape[1])) == 0
