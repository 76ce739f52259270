"""Labels that pandas knows: texts for dates, and tuples of labels (pandas.MultiIndex), by xarray's rules."""

import copy
import pickle

import numpy as np
import pytest

import bitale as bt
from bitale import xtensor as px

xr = pytest.importorskip("xarray")
pd = pytest.importorskip("pandas")

DAYS = np.arange("2020-01-20", "2020-02-29", dtype="datetime64[D]").astype("datetime64[ns]")
HALF_DAYS = np.array(
    ["2020-01-01T00", "2020-01-01T12", "2020-01-02T00", "2020-01-02T12"], dtype="datetime64[ns]"
)
SPANS = np.array([1, 2, 3], dtype="timedelta64[D]").astype("timedelta64[ns]")


def pair(labels):
    """A labelled tensor and xarray's array."""
    value = xr.DataArray(np.arange(float(len(labels))), dims="t", coords={"t": labels})
    return px.as_xtensor(value), value


def assert_same(found, expected):
    assert found.dims == expected.dims and set(found.coords) == {
        name for name in expected.dims if name in expected.indexes
    }
    for name, labels in found.coords.items():
        assert list(labels) == list(expected.indexes[name]) or np.array_equal(
            labels, expected.coords[name].values
        )
    np.testing.assert_array_equal(np.asarray(found.eval()), expected.values)


@pytest.mark.parametrize(
    "labels, key",
    [
        (DAYS, "2020-01"), (DAYS, "2020-02-03"), (DAYS, "2020"), (DAYS, slice("2020-01", "2020-01-22")), (DAYS, slice("2020-02", None)),
        (DAYS, slice(None, "2020-01")), (DAYS, ["2020-02-03", "2020-01-20"]), (DAYS, ["2020-02"]), (DAYS, "2020-02-03T00"),
        (DAYS, slice(np.datetime64("2020-02-03"), "2020-02-05")), (DAYS, slice("2020-02", None, 2)), (DAYS, "Feb 2020"), (DAYS[::-1], "2020-01"),
        (DAYS[::-1], "2020-02-03"), (DAYS[[3, 1, 2, 30, 20]], "2020-01"), (DAYS[[3, 1, 2, 30, 20]], "2020-01-22"), (HALF_DAYS, "2020-01-01"),
        (HALF_DAYS, "2020-01-01T12"), (HALF_DAYS, ["2020-01-01"]), (SPANS, "1 day"), (SPANS, "2D"), (SPANS, slice("1 day", "2 days")), (SPANS, ["1D", "3D"]),
    ],
)  # fmt: skip
def test_texts_for_dates(labels, key):
    x, value = pair(labels)
    assert_same(x.sel(t=key), value.sel(t=key).reset_coords(drop=True))
    assert_same(x.loc[key], value.loc[key].reset_coords(drop=True))


@pytest.mark.parametrize("key", ["2021", "bla", slice("2020-01", "bla"), ["2021-01-01"], ["bla"]])
def test_texts_for_no_dates(key):
    x, _ = pair(DAYS)
    with pytest.raises(KeyError, match="'t' has no label"):
        x.sel(t=key)


def test_ranges_of_dates_in_no_order():
    x, _ = pair(DAYS[[3, 1, 2, 30, 20]])
    with pytest.raises(KeyError, match="in ascending order"):
        x.sel(t=slice("2020-01", "2020-02"))


def test_nearest_dates():
    x, value = pair(DAYS)
    for method in ("nearest", "pad", "backfill"):
        at = np.datetime64("2020-02-03T15", "ns")
        assert_same(
            x.sel(t=at, method=method), value.sel(t=at, method=method).reset_coords(drop=True)
        )
        assert_same(
            x.sel(t="2020-02-03T15", method=method),
            value.sel(t=at, method=method).reset_coords(drop=True),
        )


def test_texts_for_dates_without_pandas(monkeypatch):
    import sys

    x, _ = pair(DAYS)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(NotImplementedError, match="texts for dates: pandas reads them"):
        x.sel(t="2020-01")


# ---- tuples of labels ------------------------------------------------------------------------------------------------


def stacked():
    value = xr.DataArray(
        np.arange(12.0).reshape(2, 3, 2),
        dims=("x", "y", "w"),
        coords={"x": ["a", "b"], "y": [10, 20, 30]},
    )
    return px.as_xtensor(value).stack(z=("x", "y"), create_index=True), value.stack(z=("x", "y"))


def test_stack_gives_an_index():
    x, value = stacked()
    assert_same(x, value)
    assert list(x.coords["z"].names) == ["x", "y"]
    parts = px.as_xtensor(np.zeros((2, 3)), dims=(px.Dim("x", coords=["a", "b"]), "y"))
    assert list(parts.stack(z=("x", "y"), create_index=True).coords["z"]) == [
        (a, b) for a in "ab" for b in range(3)
    ]
    assert (
        not parts.stack(z=("x", "y"), create_index=None).coords
        and not parts.stack(z=("x", "y")).coords
    )
    with pytest.raises(
        NotImplementedError, match='"x" has no coordinates, and its length is not known'
    ):
        px.xtensor("p", dims=("x", "y")).stack(z=("x", "y"), create_index=True)


@pytest.mark.parametrize(
    "key",
    [
        {"z": "a"}, {"z": ("a", 20)}, {"x": "b"}, {"x": "a", "y": 20}, {"y": 20}, {"z": [("a", 20), ("b", 10)]}, {"z": {"x": "a"}}, {"z": ("b",)},
        {"z": slice("b", None)}, {"z": slice(("a", 20), ("b", 10))}, {"z": {"y": 30, "x": "b"}},
    ],
)  # fmt: skip
def test_labels_of_levels(key):
    x, value = stacked()
    if any(isinstance(each, slice) for each in key.values()):
        value = value.assign_coords(
            xr.Coordinates.from_pandas_multiindex(
                pd.MultiIndex.from_product([["a", "b"], [10, 20, 30]], names=["x", "y"]), "z"
            )
        )
        x = px.as_xtensor(value)
    expected = value.sel(key)
    expected = expected.drop_vars(
        [
            name
            for name in expected.coords
            if name not in expected.dims
            and name not in getattr(expected.indexes.get("z"), "names", ())
        ]
    )
    assert_same(x.sel(key), expected)


def test_results_have_the_index():
    _, value = stacked()
    x = px.xtensor("x", dims=px.as_xtensor(value).dimensions)
    out = bt.function([x], 2 * x)(value)
    xr.testing.assert_identical(out.rename(None), 2 * value.transpose(*x.dims))
    xr.testing.assert_equal(
        bt.function([x], x.sel(x="a"))(value), value.transpose(*x.dims).sel(x="a").drop_vars("x")
    )
    for again in (copy.deepcopy(x.dimensions[-1]), pickle.loads(pickle.dumps(x)).dimensions[-1]):
        assert again == x.dimensions[-1] and list(again.coords.names) == ["x", "y"]
    joined = px.concat([x.isel(z=[0, 1]), x.isel(z=[5])], dim="z")
    assert list(joined.coords["z"]) == [("a", 10), ("a", 20), ("b", 30)] and joined.coords[
        "z"
    ].names == ["x", "y"]


def test_unstack_by_the_index():
    x, value = stacked()
    for name in ("z", ["z"], None):
        assert_same(x.unstack(name), value.unstack("z"))
    some = x.isel(z=[4, 0])
    assert_same(some.unstack("z"), value.isel(z=[4, 0]).unstack("z"))
    slope = bt.grad((some.unstack("z").fillna(0.0) ** 2).sum(), x)
    assert slope.dims == x.dims
    with pytest.raises(ValueError, match="no coordinates of several levels"):
        x.unstack("w")
    with pytest.raises(ValueError, match="at several positions"):
        x.isel(z=[0, 0]).unstack("z")


@pytest.mark.parametrize(
    "key, error, message",
    [
        ({"z": "q"}, KeyError, "'z' has no label 'q'"),
        ({"x": "q"}, KeyError, "'z' has no label"),
        ({"z": ("a", 20, 1)}, KeyError, "has 2 levels, but there are 3"),
        ({"z": {"x": "a", "q": 1}}, KeyError, "'z' has no label"),
        ({"x": ["a"]}, NotImplementedError, "one label for each level"),
        ({"x": slice("a", "b")}, NotImplementedError, "one label for each level"),
        ({"z": "a", "x": "a"}, ValueError, "both for 'z' and for one of its levels"),
        ({"z": [("a", 11)]}, KeyError, "no label"),
        ({"q": "a"}, ValueError, 'no dimension is called "q"'),
    ],
)
def test_bad_labels_of_levels(key, error, message):
    with pytest.raises(error, match=message):
        stacked()[0].sel(key)
