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


def infinite_cases():
    rng = np.random.default_rng(0)
    ordinates = [1.0, 2.0, 2.0, -1.0, 0.0, np.inf, -np.inf, np.nan]
    for _ in range(300):
        n = rng.integers(2, 6)
        px = np.sort(rng.choice([-2.0, -1, 0, 1, 2, 3, 4], n, replace=False))
        px[0] = px[0] if rng.random() < 0.7 else -np.inf
        px[-1] = px[-1] if rng.random() < 0.7 else np.inf
        inside = [-5, -0.5, 0.25, 1.5, 2.5, 3.5, 9, np.inf, -np.inf, np.nan]
        yield np.concatenate([px, inside]), px, rng.choice(ordinates, n)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_interp_at_and_next_to_points_that_are_not_finite(mode):
    x, xp, fp = pt.dvectors("x", "xp", "fp")
    f = bitale.function([x, xp, fp], pt.interp(x, xp, fp), mode=mode)
    at, px = [1, 2, 2.5, 3, 3.5], [1.0, 2, 3, 4]
    assert f(at, px, [1.0, 2, np.inf, 4]).tolist() == [1, 2, np.inf, np.inf, np.inf]
    for at, px, py in infinite_cases():
        np.testing.assert_allclose(f(at, px, py), np.interp(at, px, py), rtol=1e-14)


@pytest.mark.parametrize("query", [[1.0, 2, 4, 9, -3, np.inf], [4.0, 1, -np.inf, 2, 2.5]])
def test_derivatives_of_interp_are_finite_where_the_line_is(query):
    """A point that is hit next to an infinite ordinate depends on its own ordinate alone."""
    x, xp, fp = pt.dvectors("x", "xp", "fp")
    slopes = bitale.function([x, xp, fp], bitale.grad(pt.interp(x, xp, fp).sum(), [x, xp, fp]))
    px = [1.0, 2, 3, 4]
    got = slopes(query, px, [1.0, 2, 3, 4])
    finite = np.array(query) != 2.5
    by_x, by_xp, by_fp = slopes(np.array(query)[finite], px, [1.0, 2, np.inf, 4])
    assert np.isfinite(by_x).all() and np.isfinite(by_xp).all()
    hits = [np.sum(np.clip(np.array(query)[finite], 1, 4) == p) for p in px]
    assert by_fp.tolist() == hits
    assert all(np.isfinite(each).all() for each in got)


@pytest.mark.parametrize("y_dtype", ["int8", "uint8", "bool", "uint64", "float32"])
@pytest.mark.parametrize("x_dtype", ["int8", "uint8", "int64", "float32"])
def test_interp_of_integers_takes_differences_beyond_their_dtype(x_dtype, y_dtype):
    px = np.array([0 if x_dtype == "uint8" else -100, 2, 120], x_dtype)
    py = np.array([100, 0, 100]).astype(y_dtype)
    at = np.array([-60.0, 1, 60])
    np.testing.assert_allclose(pt.interp(at, px, py).eval(), np.interp(at, px, py), rtol=1e-6)


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
