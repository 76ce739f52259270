"""Indexing of labelled tensors by positions and by labels, and changed copies, against xarray and NumPy."""

import datetime

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import xtensor as px

X = np.arange(24.0).reshape(2, 3, 4)
YEARS = [1990, 2000, 2010]
NAMES = ["DE", "FR"]


def sample():
    country, year = px.Dim("country", coords=NAMES), px.Dim("year", coords=YEARS)
    return px.xtensor("x", dims=(country, year, px.Dim("month", 4)))


def value(y, x):
    return np.asarray(y.eval({x: X}))


def labelled(array, *dims):
    return px.as_xtensor(np.asarray(array), dims=dims)


# ---- positions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key, dims, expected",
    [
        (0, ("year", "month"), X[0]),
        ((slice(None), 1), ("country", "month"), X[:, 1]),
        ((..., 1), ("country", "year"), X[..., 1]),
        ({"month": slice(1, None, 2)}, ("country", "year", "month"), X[..., 1::2]),
        ({"month": -1, "country": 1}, ("year",), X[1, :, -1]),
        (
            {"month": [0, 2], "year": [2, 1, 0]},
            ("country", "year", "month"),
            X[:, [2, 1, 0]][:, :, [0, 2]],
        ),
        ({"year": np.array([True, False, True])}, ("country", "year", "month"), X[:, [0, 2]]),
        ({"month": np.array([], dtype=int)}, ("country", "year", "month"), X[:, :, :0]),
        ({"year": slice(None, None, -1)}, ("country", "year", "month"), X[:, ::-1]),
    ],
)
def test_positions(key, dims, expected, mode):
    x = sample()
    y = x[key]
    assert y.dims == dims
    np.testing.assert_array_equal(np.asarray(bt.function([x], y, mode=mode)(X)), expected)


def test_labelled_positions_select_points():
    x = sample()
    year, month = labelled([0, 2, 1, 0], "point"), labelled([3, 0, 1, 2], "point")
    y = x.isel(year=year, month=month)
    assert y.dims == ("country", "point")
    np.testing.assert_array_equal(value(y, x), X[:, [0, 2, 1, 0], [3, 0, 1, 2]])
    z = x.isel(year=labelled([[0, 1], [2, 0]], "a", "b"), country=labelled([1, 0], "b"))
    assert z.dims == ("b", "a", "month")
    np.testing.assert_array_equal(
        value(z, x), X[np.array([1, 0])[:, None], np.array([[0, 1], [2, 0]]).T]
    )
    assert x.isel(year=("point", [0, 1])).dims == ("country", "point", "month")


def test_positions_along_a_dimension_of_the_tensor():
    x = sample()
    y = x.isel(year=labelled([0, 1, 2, 0], "month"))  # one year for each month
    assert y.dims == ("country", "month")
    np.testing.assert_array_equal(value(y, x), X[:, [0, 1, 2, 0], np.arange(4)])


def test_symbolic_positions(mode):
    x, i, m = sample(), pt.lscalar("i"), px.xtensor("m", dims="point", dtype="int64")
    f = bt.function(
        [x, i, m], [x.isel(year=i), x.isel(month=m), x.isel(month=slice(i, None))], mode=mode
    )
    found = [np.asarray(each) for each in f(X, 1, np.array([3, 0]))]
    for got, expected in zip(found, (X[:, 1], X[..., [3, 0]], X[..., 1:])):
        np.testing.assert_array_equal(got, expected)


def test_head_tail_thin():
    x = sample()
    assert (
        x.head(2).static_shape == (2, 2, 2)
        and x.tail(month=3).static_shape[2] == 3
        and x.thin(month=2).static_shape[2] == 2
    )
    np.testing.assert_array_equal(value(x.tail(month=2), x), X[..., -2:])
    np.testing.assert_array_equal(value(x.tail(month=0), x), X[..., :0])
    np.testing.assert_array_equal(value(x.head(month=pt.constant(3)), x), X[..., :3])
    np.testing.assert_array_equal(value(x.tail(month=pt.constant(3)), x), X[..., -3:])


def test_coordinates_follow_constant_positions():
    x = sample()
    assert list(x.isel(year=[2, 0]).coords["year"]) == [2010, 1990] and list(
        x.isel(year=slice(1, None)).coords["year"]
    ) == [2000, 2010]
    assert (
        list(x.isel(year=-1).coords) == ["country"]
        and "year" not in x.isel(year=pt.lvector("i")).coords
    )
    assert list(x.isel(year=np.array([True, False, True])).coords["year"]) == [1990, 2010]


def test_masks_have_the_length_of_their_dimension():
    x = px.xtensor("x", dims="a")
    for mask in ([True], [True, False, True]):
        with pytest.raises(IndexError, match='"a" has length 2, but its mask'):
            px.as_xtensor([1.0, 2.0], dims="a").isel(a=mask)
        with pytest.raises(ValueError):
            bt.function([x], x.isel(a=mask))([1.0, 2.0])
    assert np.asarray(x.isel(a=[False, True]).eval({x: [1.0, 2.0]})).tolist() == [2.0]


def test_dimensions_with_the_names_of_parameters():
    x = px.as_xtensor(np.arange(6.0).reshape(2, 3), dims=("x", "y")).assign_coords(x=["a", "b"])
    assert x.isel(x=0).dims == x.sel(x="a").dims == ("y",) and x.head(x=1).static_shape == x.tail(
        x=1
    ).static_shape == x.thin(x=2).static_shape == (1, 3)
    assert x.rename(x="z").dims == ("z", "y") and x.shift(x=1).dims == x.roll(
        x=1
    ).dims == x.rolling(x=2).sum().dims == ("x", "y")
    assert (
        x.isel(y=0).expand_dims(y=2).dims == ("y", "x")
        and x.stack(x=("x", "y")).dims == ("x",)
        and x.unstack(x={"u": 2, "v": 1}).dims == ("y", "u", "v")
    )
    assert x.assign_coords(x=[1.0, 2.0]).interp(x=1.5).dims == ("y",)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_interp_at_and_next_to_values_that_are_not_finite():
    """As numpy.interp, which xarray calls: a point that is hit has its own value."""
    at = np.array([-1.0, 1, 1.25, 2, 2.5, 3, 3.5, 4, np.inf])
    points = np.array([1.0, 2, 3, 4])
    rows = np.array([[1.0, 2, np.inf, 4], [np.nan, 2, 3, -np.inf], [1, np.inf, np.inf, 5]])
    x = px.xtensor("x", dims=("a", "b"), shape=(3, 4)).assign_coords(b=points)
    expected = [np.interp(at, points, row, left=np.nan, right=np.nan) for row in rows]
    np.testing.assert_allclose(bt.function([x], x.interp(b=at))(rows), expected)
    target = px.xtensor("t", dims="t")
    slopes = bt.function([x, target], bt.grad(x.interp(b=target).fillna(0).sum(), [x, target]))
    by_x, by_target = slopes(rows, np.array([1, 1.5, np.inf]))
    assert np.asarray(by_x)[0].tolist() == [1.5, 0.5, 0, 0] and np.isfinite(by_target[0])


def test_set_and_inc(mode):
    x, v = sample(), px.xtensor("v", dims=("month", "country"))
    V = np.arange(8.0).reshape(4, 2)
    outputs = [
        x.isel(year=1).set(v),
        x.isel(year=1).inc(v),
        x[0].set(1.5),
        x.isel(year=[0, 2]).inc(v),
        x.isel(year=labelled([0, 0], "p"), month=labelled([1, 1], "p")).inc(
            labelled([1.0, 2.0], "p")
        ),
        x.loc["FR", 2000:].set(0.0),
    ]
    expected = [X.copy() for _ in outputs]
    expected[0][:, 1] = V.T
    expected[1][:, 1] += V.T
    expected[2][0] = 1.5
    expected[3][:, [0, 2]] += V.T[:, None]
    expected[4][:, 0, 1] += 3
    expected[5][1, 1:] = 0
    for got, wanted, y in zip(
        bt.function([x, v], outputs, mode=mode, on_unused_input="ignore")(X, V), expected, outputs
    ):
        assert y.dims == x.dims
        np.testing.assert_array_equal(np.asarray(got), wanted)


def test_gradients_through_indices():
    x = sample()
    g = bt.grad((x.isel(year=labelled([0, 0], "p")) ** 2).sum(), x)
    expected = np.zeros_like(X)
    expected[:, 0] = 4 * X[:, 0]
    np.testing.assert_allclose(value(g, x), expected)


# ---- labels -----------------------------------------------------------------------------------------------------------


def test_sel():
    x = sample()
    assert x.sel(country="FR").dims == ("year", "month")
    np.testing.assert_array_equal(value(x.sel(country="FR", year=[2010, 1990]), x), X[1, [2, 0]])
    np.testing.assert_array_equal(value(x.sel(year=slice(1995, 2010)), x), X[:, 1:])
    np.testing.assert_array_equal(value(x.sel(year=2004, method="nearest"), x), X[:, 1])
    np.testing.assert_array_equal(value(x.sel(year=2009, method="pad"), x), X[:, 1])
    np.testing.assert_array_equal(value(x.sel(year=2001, method="backfill"), x), X[:, 2])
    np.testing.assert_array_equal(value(x.loc["FR"], x), X[1])
    assert x.sel(year=labelled([2010, 1990, 2010, 2000], "person")).dims == (
        "country",
        "person",
        "month",
    )
    np.testing.assert_array_equal(value(x.loc[:, 2000], x), X[:, 1])
    np.testing.assert_array_equal(value(x.loc[{"year": 2000}], x), X[:, 1])
    np.testing.assert_array_equal(value(x.loc["DE", ...], x), X[0])


def test_sel_of_other_orders_and_kinds():
    down = px.as_xtensor(np.arange(3.0), dims=px.Dim("t", coords=[3.0, 2.0, 1.0]))
    assert np.asarray(down.sel(t=slice(2.5, 1)).eval()).tolist() == [1, 2]
    mixed = px.as_xtensor(np.arange(3.0), dims=px.Dim("t", coords=["b", "a", "c"]))
    assert np.asarray(mixed.sel(t=slice("b", "a")).eval()).tolist() == [0, 1]
    days = np.array(["2020-01-01", "2020-01-03"], dtype="datetime64[D]")
    dated = px.as_xtensor(np.arange(2.0), dims=px.Dim("t", coords=days))
    assert np.asarray(dated.sel(t=np.datetime64("2020-01-03")).eval()) == 1
    assert (
        np.asarray(
            px.as_xtensor([1.0, 2.0], dims=px.Dim("t", coords=[("a", 1), ("b", 2)]))
            .sel(t=("b", 2))
            .eval()
        )
        == 2
    )


def along(labels):
    return px.as_xtensor(np.arange(float(len(labels))), dims=px.Dim("t", coords=labels))


def test_labels_of_dates():
    instants = np.array(["2020-01-01T00", "2020-01-03T12"], dtype="datetime64[ns]")
    days = np.array(["2020-01-01", "2020-01-03"], dtype="datetime64[D]")
    assert np.asarray(along(instants).sel(t=list(instants[::-1])).eval()).tolist() == [1, 0]
    assert np.asarray(along(instants).sel(t=datetime.datetime(2020, 1, 3, 12)).eval()) == 1
    assert np.asarray(along(days).sel(t=[datetime.date(2020, 1, 3)]).eval()).tolist() == [1]
    assert np.asarray(
        along(instants).sel(t=slice(datetime.date(2020, 1, 2), None)).eval()
    ).tolist() == [1]
    assert np.asarray(along(days[1:] - days[:1]).sel(t=np.timedelta64(48, "h")).eval()) == 0
    with pytest.raises(KeyError, match="no label"):  # no day, and so none of the days
        along(days).sel(t=datetime.datetime(2020, 1, 3, 12))
    for wrong in (5, None, [1.5]):
        with pytest.raises(KeyError, match="no label"):
            along(days).sel(t=wrong)
    assert (
        np.asarray(along(days).sel(t=np.datetime64("2020-01-02T18"), method="nearest").eval()) == 1
    )
    assert (
        np.asarray(
            along(days)
            .sel(
                t=datetime.datetime(2020, 1, 2), method="pad", tolerance=datetime.timedelta(days=1)
            )
            .eval()
        )
        == 0
    )
    with pytest.raises(KeyError, match="no label near"):
        along(days).sel(
            t=np.datetime64("2020-01-02"), method="pad", tolerance=np.timedelta64(1, "h")
        )
    with pytest.raises(TypeError, match="expected a number, or a duration"):
        along(days).sel(t=days[0], method="pad", tolerance="a day")
    with pytest.raises(NotImplementedError, match="labels that are not numbers"):
        along(["a", "b"]).sel(t="a", method="nearest")


def test_labels_that_repeat_are_all_of_their_positions():
    found = along(["b", "a", "b"]).sel(t="b")
    assert np.asarray(found.eval()).tolist() == [0, 2] and list(found.coords["t"]) == ["b", "b"]
    assert along(["b", "a", "b"]).sel(t="a").dims == ()
    # A range may begin and end at labels that repeat, if their positions are adjacent.
    for key, positions in (
        (slice("b", None), [1, 2, 3]),
        (slice(None, "b"), [0, 1, 2]),
        (slice("b", "c"), [1, 2, 3]),
        (slice("c", "b"), []),
        (slice("b", None, -1), [2, 1, 0]),
    ):
        found = along(["d", "b", "b", "c"]).sel(t=key)
        assert np.asarray(found.eval()).tolist() == positions
    with pytest.raises(KeyError, match="2 positions"):
        along(["b", "a", "b"]).sel(t=slice("b", None))


def test_labels_of_any_kind():
    objects = along(np.array(["b", ("a", 1), 3, None], dtype=object))
    for position, label in enumerate(["b", ("a", 1), 3, None]):
        assert np.asarray(objects.sel(t=label).eval()) == position
    with pytest.raises(KeyError, match="did you mean 'country'"):
        along(np.array(["country", "year"], dtype=object)).sel(t="coutry")
    unsigned = along(np.array([250, 5], dtype="uint8"))
    assert np.asarray(unsigned.sel(t=[7, 251], method="nearest").eval()).tolist() == [1, 0]
    large = along(np.array([2**60, 2**60 + 1, 2**60 + 2]))  # the same number in float64
    assert (
        np.asarray(large.sel(t=2**60 + 1).eval()) == 1
        and np.asarray(large.sel(t=2**60 + 1, method="pad").eval()) == 1
    )
    for unordered in ([1.0, np.nan, 2.0], [1.0, 1.0, 2.0], [1.0, 3.0, 2.0], ["b", "a", "c"]):
        with pytest.raises(ValueError, match="coordinates that ascend or descend"):
            along(unordered).sel(t=unordered[0], method="pad")
    texts = along(["b", "d", "e"])
    assert [int(texts.sel(t="c", method=each).eval()) for each in ("pad", "backfill")] == [0, 1]
    missing = along([1.0, np.nan, 2.0])
    assert missing.sel(t=np.nan).eval() == 1
    assert np.asarray(missing.sel(t=[np.nan, 2.0]).eval()).tolist() == [1, 2]
    assert np.asarray(
        along(["a", "b", "c"]).sel(t=np.array([True, False, True])).eval()
    ).tolist() == [0, 2]
    with pytest.raises(KeyError, match="no label 1"):
        along(["a", "b"]).sel(t=1)
    with pytest.raises(TypeError, match="has no order"):
        along(["a", "b"]).sel(t=slice(1, None))
    for method in ("nearest", "pad", "backfill"):
        with pytest.raises(KeyError, match="no label near"):
            along([1.0, 2.0]).sel(t=np.nan, method=method)


def test_labelled_labels_keep_their_coordinates():
    xr = pytest.importorskip("xarray")
    wanted = xr.DataArray([3, 1], dims="point", coords={"point": ["p", "q"]})
    assert list(along([1, 2, 3]).sel(t=wanted).coords["point"]) == ["p", "q"]


# ---- alignment by coordinates -----------------------------------------------------------------------------------------


def test_coordinates_of_operands_have_to_agree():
    x = sample()
    other = px.as_xtensor(np.ones(3), dims=px.Dim("year", coords=[1990, 2000, 2020]))
    with pytest.raises(
        ValueError, match='the coordinates along "year" differ: position 2 is 2010 and 2020'
    ):
        x + other
    assert (
        "year" in (x + other.drop_coords()).coords
        and (x + px.as_xtensor(np.ones(3), dims="year")).dims == x.dims
    )
    with pytest.raises(bt.ShapeError, match='"year" has length 3 in one operand and 2'):
        x + px.as_xtensor(np.ones(2), dims=px.Dim("year", coords=[1990, 2000]))
    joined = px.concat([x, x], dim="year")
    assert list(joined.coords["year"]) == [*YEARS, *YEARS]
    assert (
        list(x.assign_coords(year=[1, 2, 3]).coords["year"]) == [1, 2, 3]
        and "year" not in x.drop_coords("year").coords
    )


@pytest.mark.parametrize(
    "wrong, error, message",
    [
        (lambda x: x.isel(yaer=0), ValueError, 'isel: no dimension is called "yaer".* did you mean "year"'),
        (lambda x: x.isel({"year": 0}, month=1), ValueError, "got both"),
        (lambda x: x[0, 0, 0, 0], IndexError, "3 dimensions, but there are 4"),
        (lambda x: x[..., ...], IndexError, "at most once"),
        (lambda x: x[None], TypeError, "expand_dims adds"),
        (lambda x: x.isel(year=1.5), TypeError, "expected integers"),
        (lambda x: x.isel(year=labelled([1.5], "p")), IndexError, "expected integers, a mask or a slice"),
        (lambda x: x.isel(year=np.zeros((2, 2), dtype=int)), IndexError, "must be a vector"),
        (lambda x: x.isel(year=labelled([[True]], "year", "month")), IndexError, "a mask of one dimension"),
        (lambda x: x.isel(year=labelled([True, False, True, True], "month")), IndexError, "can't index"),
        (lambda x: x.isel(year=7), IndexError, "7"),
        (lambda x: x.set(1.0), TypeError, "expected an indexed tensor"),
        (lambda x: x[0].set(px.xtensor("v", dims="mnth")), ValueError, 'did you mean "month"'),
        (lambda x: x.sel(country="GE"), KeyError, "no label 'GE'; did you mean 'DE'"),
        (lambda x: px.as_xtensor([1.0, 2.0], dims=px.Dim("t", coords=["u", "v"])).sel(t="w"), KeyError, "no label 'w'\"$"),
        (lambda x: x.sel(year=2001), KeyError, "the nearest is 2000"),
        (lambda x: x.sel(month=1), ValueError, '"month" has no coordinates'),
        (lambda x: x.sel(yaer=1), ValueError, 'did you mean "year"'),
        (lambda x: x.sel(year=2004, method="nearest", tolerance=1), KeyError, "no label near 2004"),
        (lambda x: x.sel(year=2004, method="closest"), ValueError, "expected method"),
        (lambda x: x.sel(year=pt.lscalar("y")), NotImplementedError, "can't be computed"),
        (lambda x: x.loc[0, 0, 0, 0], IndexError, "3 dimensions"),
        (lambda x: x.head(-1), ValueError, "an integer of at least 0, got -1"),
        (lambda x: x.tail(year=1.5), ValueError, "an integer of at least 0, got 1.5"),
        (lambda x: x.thin(year=0), ValueError, "an integer of at least 1, got 0"),
        (lambda x: x.thin(), TypeError, "expected a step"),
        (lambda x: x.head(yaer=1), ValueError, 'head: .* did you mean "year"'),
        (lambda x: x.head({"year": 1}, month=1), ValueError, "got both"),
        (lambda x: x.assign_coords(year=[1]), ValueError, "coordinates for 1 positions"),
        (lambda x: px.as_xtensor([1.0, 2.0], dims=px.Dim("t", coords=["a", "a"])).sel(t=["a"]), KeyError, "at 2 positions"),
    ],
)  # fmt: skip
def test_bad_input(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong(sample())


# ---- beside xarray ----------------------------------------------------------------------------------------------------

ORDERS = {
    "rising": [10, 20, 30, 50, 60],
    "falling": [60, 50, 30, 20, 10],
    "falling floats": [6.0, 5.0, 3.0, 2.0, 1.5],
    "texts": ["b", "d", "e", "k", "m"],
    "falling texts": ["m", "k", "e", "d", "b"],
    "dates": list(
        np.array(
            ["2020-01-01", "2020-01-05", "2020-02-01", "2020-03-01", "2020-04-01"], "datetime64[ns]"
        )
    ),
    "falling dates": list(
        np.array(
            ["2020-04-01", "2020-03-01", "2020-02-01", "2020-01-05", "2020-01-01"], "datetime64[ns]"
        )
    ),
    "unsorted": [30, 10, 60, 20, 50],
    "unsorted texts": ["k", "b", "m", "d", "e"],
    "repeated": [10, 10, 20, 20, 30],
    "repeated falling": [30, 20, 20, 10, 10],
}
BETWEEN = {
    "i": [5, 15, 25, 40, 55, 70],
    "f": [1.0, 2.5, 4.0, 7.0],
    "U": ["a", "c", "f", "z"],
    "M": [],
}


def beside_xarray(labels):
    xr = pytest.importorskip("xarray")
    value = xr.DataArray(np.arange(float(len(labels))), dims="x", coords={"x": labels})
    return px.as_xtensor(value), value


@pytest.mark.parametrize("kind", ORDERS)
def test_ranges_of_labels_with_steps(kind):
    x, value = beside_xarray(np.array(ORDERS[kind]))
    is_sorted = "unsorted" not in kind
    ends = [
        None,
        *dict.fromkeys(ORDERS[kind]),
        *(BETWEEN[np.array(ORDERS[kind]).dtype.kind] if is_sorted else []),
    ]
    for first in ends:
        for last in ends:
            for step in (None, 1, 2, -1, -2):
                key = slice(first, last, step)
                if (
                    step is not None
                    and step < 0
                    and first is not None
                    and first < min(ORDERS[kind])
                    and "falling" not in kind
                ):
                    expected = []  # pandas has changed its mind on what is before the first label
                else:  # without ends pandas has an error of its own along falling dates
                    expected = list(
                        (value.isel if first is last is None else value.sel)(x=key).values
                    )
                found = x.sel(x=key)
                assert list(np.asarray(found.eval())) == expected, key
                assert list(found.coords["x"]) == [
                    value.x.values[int(each)] for each in expected
                ], key


@pytest.mark.parametrize("kind", ["rising", "falling", "falling floats"])
@pytest.mark.parametrize("method", ["pad", "backfill", "nearest", "ffill", "bfill"])
@pytest.mark.parametrize("tolerance", [None, 0, 5, 10])
def test_methods_go_by_positions(kind, method, tolerance):
    x, value = beside_xarray(ORDERS[kind])
    for wanted in np.arange(0, 80, 2.5) / (10 if kind == "falling floats" else 1):
        try:
            expected = float(value.sel(x=wanted, method=method, tolerance=tolerance))
        except KeyError:
            with pytest.raises(KeyError):
                x.sel(x=wanted, method=method, tolerance=tolerance)
            continue
        assert float(x.sel(x=wanted, method=method, tolerance=tolerance).eval()) == expected, wanted
        assert list(np.asarray(x.sel(x=[wanted], method=method, tolerance=tolerance).eval())) == [
            expected
        ]


@pytest.mark.parametrize(
    "condition", [(), ("a",), ("b",), ("b", "a"), ("k",), ("k", "b"), ("k", "l", "a")]
)
@pytest.mark.parametrize("other", [None, (), ("b",), ("m",), ("m", "k"), ("b", "a")])
def test_where_keeps_the_order_of_dimensions(condition, other):
    xr = pytest.importorskip("xarray")
    lengths, rng = {"a": 2, "b": 3, "k": 2, "l": 2, "m": 4}, np.random.default_rng(1)
    made = [
        xr.DataArray(rng.normal(size=[lengths[name] for name in dims]), dims=dims)
        for dims in [("a", "b"), condition, other or ()]
    ]
    value, is_true, others = made[0], made[1] > 0, [] if other is None else [made[2]]
    expected = value.where(is_true, *others)
    found = px.as_xtensor(value).where(px.as_xtensor(is_true), *map(px.as_xtensor, others))
    assert found.dims == expected.dims
    np.testing.assert_array_equal(np.asarray(found.eval()), expected.values)


@pytest.mark.parametrize("rows", [["b", "a", "c"], ["c", "b", "a"], [3, 1, 2], [0.5, 2.5, -1.0]])
def test_unstack_is_the_way_back(rows):
    xr = pytest.importorskip("xarray")
    value = xr.DataArray(
        np.arange(12.0).reshape(3, 2, 2), dims=("r", "c", "k"), coords={"r": rows, "c": ["y", "x"]}
    )
    x = px.as_xtensor(value)
    for dims in (("r", "c"), ("c", "r"), ("r", "k"), ("k", "c", "r")):
        mine, theirs = x.stack(z=dims, create_index=True), value.stack(z=dims, create_index=True)
        assert list(mine.coords["z"]) == list(theirs.indexes["z"])
        for found, expected in [
            (mine.unstack("z"), theirs.unstack("z")),
            (mine.isel(z=[3, 0]).unstack("z"), theirs.isel(z=[3, 0]).unstack("z")),
        ]:
            assert found.dims == expected.dims
            for name in found.coords:
                assert list(found.coords[name]) == list(expected.coords[name].values)
            np.testing.assert_array_equal(np.asarray(found.eval()), expected.values)


@pytest.mark.parametrize(
    "name", ["sum", "mean", "var", "std", "min", "max", "prod", "count", "first", "last"]
)
@pytest.mark.parametrize("ddof", [0, 1])
def test_groups_leave_out_missing_labels(name, ddof):
    xr = pytest.importorskip("xarray")
    labels = np.array([1.0, np.nan, 2.0, 1.0, np.nan, 2.0, 2.0, 1.0])
    value = xr.DataArray(np.random.default_rng(0).normal(size=(8, 2)), dims=("t", "k"))
    options = {"ddof": ddof} if name in ("var", "std") else {}
    grouped = value.assign_coords(g=("t", labels)).groupby("g")
    expected = getattr(grouped, name)(**options)
    found = getattr(px.as_xtensor(value).groupby(labels, dim="t", name="g"), name)(**options)
    if name == "count":
        expected = expected.isel(k=0)
    np.testing.assert_allclose(np.asarray(found.eval()), expected.transpose(*found.dims).values)


@pytest.mark.parametrize("update", ["set", "inc"])
def test_lengths_of_one_in_a_call_are_not_repeated(update):
    x = labelled(np.arange(6.0).reshape(2, 3), "a", "b")
    y, i, j = (
        px.xtensor("y", dims="b"),
        px.xtensor("i", dims="p", dtype="int64"),
        px.xtensor("j", dims="p", dtype="int64"),
    )
    z = px.xtensor("z", dims=("a", "b"))
    along = px.xtensor("k", dims="a", dtype="int64")
    cases = [
        ([y], getattr(x[0], update)(y), [[1.0]], [[1.0, 2.0, 3.0]]),
        (
            [z, y],
            getattr(z.isel(a=0), update)(y),
            [np.ones((2, 3)), [1.0]],
            [np.ones((2, 3)), [1.0, 2.0, 3.0]],
        ),
        ([i, j], x.isel(a=i, b=j), [[0, 1], [2]], [[0, 1], [2, 0]]),
        ([i, j], x.isel(a=i, b=j), [[1], [2, 0]], [[1], [2]]),
        ([along], x.isel(b=along), [[1]], [[1, 2]]),
        ([z, along], z.isel(b=along), [np.ones((2, 3)), [1]], [np.ones((2, 3)), [1, 2]]),
    ]
    for inputs, out, wrong, right in cases:
        f = bt.function(inputs, out)
        f(*right)
        with pytest.raises(ValueError):
            f(*wrong)
