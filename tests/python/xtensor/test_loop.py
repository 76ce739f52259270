"""scan over a named dimension."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import xtensor as px
from bitale.scan import until

X = np.arange(12.0).reshape(3, 4)


def sample():
    return px.xtensor("x", dims=("unit", px.Dim("time", coords=[1, 2, 3, 5])))


def test_states_are_labelled(mode):
    x, rate = sample(), px.xtensor("rate", dims="unit")
    start = px.zeros_like(x.isel(time=0))

    def step(x, level, rate):
        assert x.dims == level.dims == rate.dims == ("unit",)
        return rate * (x - level) + level, (x - level) ** 2

    (level, error), updates = px.scan(step, x, [start, None], rate, dim="time")
    assert (
        level.dims == error.dims == ("time", "unit")
        and list(level.coords["time"]) == [1, 2, 3, 5]
        and not updates
    )
    R = np.array([0.1, 0.5, 1.0])
    expected, now = [], np.zeros(3)
    for k in range(4):
        now = R * (X[:, k] - now) + now
        expected.append(now)
    got = bt.function([x, rate], [level, bt.grad(error.sum(), rate)], mode=mode)(X, R)
    np.testing.assert_allclose(np.asarray(got[0]), expected)
    assert got[1].shape == (3,)


def test_results_are_aligned_with_states():
    x = px.xtensor("x", dims=("time", "a", "b"))
    start = px.xtensor("start", dims=("b", "a"))
    sums = px.scan(lambda x, total: x + total, x, start, dim="time", return_updates=False)
    assert sums.dims == ("time", "b", "a")
    value = np.random.default_rng(0).normal(size=(3, 2, 4))
    np.testing.assert_allclose(
        np.asarray(sums.eval({x: value, start: np.zeros((4, 2))})),
        np.cumsum(value, 0).transpose(0, 2, 1),
    )


def test_tensors_and_counts_of_steps():
    y = pt.dvector("y")
    out = px.scan(
        lambda y, s, k: (s + y * k, 2 * y),
        y,
        [px.as_xtensor(np.zeros(2), dims="a"), None],
        px.as_xtensor([1.0, 2.0], dims="a"),
        dim="step",
        return_updates=False,
    )
    assert out[0].dims == ("step", "a") and not isinstance(out[1], px.XTensorVariable)
    powers = px.scan(
        lambda p: 2 * p,
        outputs_info=px.as_xtensor(1.0),
        n_steps=3,
        dim="step",
        return_updates=False,
    )
    assert np.asarray(powers.eval()).tolist() == [2, 4, 8] and powers.dims == ("step",)


def test_taps_of_sequences(mode):
    x, y = sample(), px.xtensor("y", dims=("time", "unit"))

    def step(earlier, now, later, y):
        assert earlier.dims == now.dims == later.dims == y.dims == ("unit",)
        return earlier + 10 * now + 100 * later + 1000 * y

    out = px.scan(step, [{"input": x, "taps": [-1, 0, 1]}, y], dim="time", return_updates=False)
    assert out.dims == ("time", "unit") and list(out.coords["time"]) == [
        2,
        3,
    ]  # the positions at which all taps are there
    Y = np.arange(12.0).reshape(4, 3)
    expected = (X[:, :-2] + 10 * X[:, 1:-1] + 100 * X[:, 2:]).T + 1000 * Y[1:-1]
    got = bt.function([x, y], [out, bt.grad(out.sum(), x)], mode=mode)(X, Y)
    np.testing.assert_allclose(np.asarray(got[0]), expected)
    np.testing.assert_allclose(np.asarray(got[1]), np.tile([1, 11, 110, 100], (3, 1)))
    delayed = px.scan(
        lambda x, v: x * v,
        [{"input": x, "taps": -2}, pt.dvector("v")],
        dim="time",
        return_updates=False,
    )
    assert list(delayed.coords["time"]) == [3, 5]


def test_taps_of_states(mode):
    x = sample()
    start = px.as_xtensor(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), dims=("time", "unit"))
    out, plain = px.scan(
        lambda x, before, last, s: (x + 2 * last + before, s + 1),
        x,
        [{"initial": start, "taps": [-2, -1]}, pt.constant(0.0)],
        dim="time",
        return_updates=False,
    )
    assert (
        out.dims == ("time", "unit")
        and list(out.coords["time"]) == [1, 2, 3, 5]
        and not isinstance(plain, px.XTensorVariable)
    )
    values = [np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])]
    for k in range(4):
        values.append(X[:, k] + 2 * values[-1] + values[-2])
    np.testing.assert_allclose(np.asarray(bt.function([x], out, mode=mode)(X)), values[2:])
    sums = px.scan(
        lambda x, s: x + s,
        x,
        {"initial": x.isel(time=0), "taps": [-1]},
        dim="time",
        return_updates=False,
    )
    np.testing.assert_allclose(np.asarray(sums.eval({x: X}))[-1], X.sum(1) + X[:, 0])


def test_taps_of_tensors_beside_labelled_ones():
    y = pt.dvector("y")
    out = px.scan(
        lambda x, a, b, s: s + x * a * b,
        [sample(), {"input": y, "taps": [-1, 0]}],
        px.zeros_like(sample().isel(time=0)),
        dim="time",
        return_updates=False,
    )
    assert out.dims == ("time", "unit")


def test_coordinates_are_in_the_order_of_the_steps():
    x = sample()
    backwards = px.scan(lambda x: x, x, dim="time", go_backwards=True, return_updates=False)
    assert list(backwards.coords["time"]) == [5, 3, 2, 1]
    np.testing.assert_array_equal(np.asarray(backwards.eval({x: X})), X.T[::-1])
    part = px.scan(lambda x: x, x, n_steps=2, dim="time", return_updates=False)
    assert list(part.coords["time"]) == [1, 2] and part.sel(time=2).dims == ("unit",)
    counted = px.scan(
        lambda p: 2 * p,
        outputs_info=px.as_xtensor(1.0),
        dim=px.Dim("step", coords=list("uvw")),
        return_updates=False,
    )
    assert np.asarray(counted.eval()).tolist() == [2, 4, 8] and list(
        counted.coords["step"]
    ) == list("uvw")


def test_conditions_and_updates_may_be_labelled():
    x = px.as_xtensor(np.arange(6.0), dims="time")
    total, seen = px.as_xtensor(0.0), px.xtensor_shared(np.zeros(2), dims="unit", name="seen")
    sums, updates = px.scan(
        lambda x, s: (s + x, {seen: seen + x}, until((s + x) > 5)), x, total, dim="time"
    )
    f = bt.function([], sums, updates=updates)
    assert np.asarray(f()).tolist() == [0, 1, 3, 6] and np.asarray(seen.get_value()).tolist() == [
        6,
        6,
    ]


@pytest.mark.parametrize(
    "wrong, error, message",
    [
        (lambda x: px.scan(lambda x: x, x, dim="tiem"), ValueError, 'did you mean "time"'),
        (lambda x: px.scan(lambda x, s: s, x, x, dim="time"), ValueError, "of the steps"),
        (
            lambda x: px.scan(lambda x, s: x.sum(), x, x.isel(time=0), dim="time"),
            ValueError,
            "result 0 has the dimensions",
        ),
        (
            lambda x: px.scan(lambda x: x, {"input": x, "taps": [-4]}, dim="time"),
            ValueError,
            "taps reach",
        ),
        (
            lambda x: px.scan(lambda x, y: x, [x, x.assign_coords(time=[1, 2, 3, 4])], dim="time"),
            ValueError,
            'the coordinates along "time" differ',
        ),
        (
            lambda x: px.scan(lambda x: x, x, dim=px.Dim("time", 3)),
            bt.ShapeError,
            "has the length 3",
        ),
        (
            lambda x: px.scan(lambda x: x.expand_dims(time=2), x, dim="time"),
            ValueError,
            'result 0 has the dimension "time" of the steps',
        ),
        (
            lambda x: px.scan(
                lambda x, a, b: a, x, {"initial": x.isel(time=0), "taps": [-2, -1]}, dim="time"
            ),
            ValueError,
            'no dimension is called "time"',
        ),
        (
            lambda x: px.scan(lambda x: x, {"input": x, "tap": [0]}, dim="time"),
            (ValueError, TypeError),
            "tap",
        ),
    ],
)
def test_bad_input(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong(sample())
