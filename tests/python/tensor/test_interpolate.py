"""interp against numpy.interp, interpolate1d against plain loops; derivatives and errors of both."""

import numpy as np
import pytest

import bitale
import bitale.tensor as pt

points_x = np.array([0.0, 1.0, 2.5, 4.0, 7.0])
points_y = np.array([1.0, -2.0, 0.5, 3.0, 3.5])
queries = np.array([[-1.0, 0.0, 0.3, 1.0], [2.0, 2.5, 6.9999, 7.0], [8.0, np.nan, np.inf, -np.inf]])


@pytest.mark.parametrize(
    "ends",
    [
        {},
        {"left": -10.0},
        {"right": 20.0},
        {"left": np.nan, "right": 4},
        {"period": 5.0},
        {"period": -3.5},
    ],
)
def test_interp_agrees_with_numpy(ends):
    x = pt.dmatrix("x")
    at = queries if "period" not in ends else np.where(np.isfinite(queries), queries, 3.25)
    out = bitale.function([x], pt.interp(x, points_x, points_y, **ends))(at)
    np.testing.assert_allclose(out, np.interp(at, points_x, points_y, **ends), rtol=1e-14)


def test_interp_with_symbolic_repeated_and_single_points():
    x, xp, fp = pt.dvectors("x", "xp", "fp")
    f = bitale.function([x, xp, fp], pt.interp(x, xp, fp))
    for px, py in (
        ([1.0, 2.0, 2.0, 3.0], [0.0, 1.0, 5.0, 6.0]),
        ([2.0], [7.0]),
        ([1.0, 2.0, 2.0], [0.0, 1.0, 5.0]),
    ):
        at = np.array([0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0])
        np.testing.assert_allclose(
            f(at, np.array(px), np.array(py)), np.interp(at, px, py), rtol=1e-14
        )


def expected(method, q):
    below = points_x[points_x < q]
    i = np.clip(len(below), 1, len(points_x) - 1)
    if method == "first":
        return points_y[max(len(below) - 1, 0)]
    if method == "last":
        return points_y[min(len(below), len(points_x) - 1)]
    if method == "mean":
        return (points_y[i - 1] + points_y[i]) / 2
    if method == "nearest":
        return points_y[np.argmin(np.abs(points_x - q))]
    slope = (points_y[i] - points_y[i - 1]) / (points_x[i] - points_x[i - 1])
    return points_y[i - 1] + slope * (q - points_x[i - 1])


@pytest.mark.parametrize("extrapolate", [True, False])
@pytest.mark.parametrize("method", ["linear", "nearest", "first", "last", "mean"])
def test_interpolate1d(method, extrapolate):
    order = [3, 0, 4, 2, 1]  # the points need not be sorted
    at = np.array([-1.0, 0.2, 1.0, 1.75, 3.9, 7.0, 9.0])
    x = pt.dvector("x")
    f = pt.interpolate1d(
        points_x[order],
        points_y[order],
        method,
        left_pad=-5.0,
        right_pad=50.0,
        extrapolate=extrapolate,
    )
    reference = [expected(method, q) for q in at]
    if not extrapolate:
        reference[0], reference[-1] = -5.0, 50.0
    np.testing.assert_allclose(bitale.function([x], f(x))(at), reference, rtol=1e-14)


def test_interp_has_derivatives():
    at = np.array([-1.0, 0.3, 1.9, 5.0, 9.0])
    bitale.gradient.verify_grad(
        lambda x, fp: pt.interp(x, points_x, fp), [at, points_y], rng=np.random.default_rng(1)
    )


def test_errors():
    with pytest.raises(NotImplementedError, match='"cubic"'):
        pt.interpolate1d(points_x, points_y, "cubic")
    with pytest.raises(ValueError, match="two vectors"):
        pt.interp(0.5, np.eye(2), points_y)
    with pytest.raises(ValueError, match="5 and 4"):
        pt.interp(0.5, points_x, points_y[:4])
    with pytest.raises(ValueError, match="at least one"):
        pt.interp(0.5, [], [])
    with pytest.raises(ValueError, match="period"):
        pt.interp(0.5, points_x, points_y, period=0)
