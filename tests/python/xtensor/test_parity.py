"""Random labelled expressions against xarray: values, dimensions and coordinates; and their derivatives against differences."""

import numpy as np
import pytest

import bitale as bt
from bitale import xtensor as px

xr = pytest.importorskip("xarray")
pytest.importorskip("scipy.linalg")

from fuzz import labelled


@pytest.mark.parametrize("seed", range(40))
def test_random_expressions(seed):
    labelled.check(seed)


@pytest.mark.parametrize("seed", range(100, 112))
def test_derivatives(seed):
    made = labelled.Generator(seed, is_smooth=True)
    for _ in range(20):
        made.step()
    loss = sum(
        (px.math.tanh(x.astype("float64")).mean() for x, value in made.nodes[4:] if value.size),
        px.as_xtensor(0.0),
    )
    variables = [x for x, _ in made.inputs]
    gradients = bt.grad(loss, variables, disconnected_inputs="ignore")
    assert [g.dims for g in gradients] == [x.dims for x in variables]
    f = bt.function(variables, loss, on_unused_input="ignore")
    values = [value for _, value in made.inputs]
    directions = [
        xr.zeros_like(v) + np.random.default_rng(seed).normal(size=v.shape) for v in values
    ]
    step = 1e-6
    up, down = (
        float(f(*(v + sign * step * d for v, d in zip(values, directions)))) for sign in (1, -1)
    )
    slopes = bt.function(variables, gradients, on_unused_input="ignore")(*values)
    along = sum(float((g * d).sum()) for g, d in zip(slopes, directions))
    assert along == pytest.approx((up - down) / (2 * step), rel=1e-5, abs=1e-7)


def test_data_arrays_in_any_order_of_dimensions():
    x = px.xtensor("x", dims=(px.Dim("country", coords=["DE", "FR"]), "year"))
    value = xr.DataArray(
        np.arange(6.0).reshape(3, 2), dims=("year", "country"), coords={"country": ["DE", "FR"]}
    )
    out = bt.function([x], 2 * x)(value)
    assert (
        isinstance(out, xr.DataArray)
        and out.dims == ("country", "year")
        and list(out.coords["country"].values) == ["DE", "FR"]
    )
    xr.testing.assert_equal(out, 2 * value.transpose("country", "year"))
    f = bt.function([x], x.sum("year"), name="f")
    for wrong, message in (
        (value.rename(year="time"), "expected the dimensions"),
        (value.assign_coords(country=["FR", "DE"]), "are not those of the variable"),
    ):
        with pytest.raises(ValueError, match=message):
            f(wrong)
        with pytest.raises(ValueError, match=message):
            f(x=wrong)


def test_data_arrays_in_expressions():
    value = xr.DataArray(
        [1.0, 2.0], dims="year", coords={"year": [1990, 2000], "name": "values"}, name="v"
    )
    x = px.xtensor("x", dims="year")
    for made in (x + value, px.math.add(value, x), px.as_xtensor(value) + x):
        assert list(made.coords["year"]) == [1990, 2000]
        assert made.eval({x: np.ones(2)}).values.tolist() == [2.0, 3.0]
    assert px.xtensor_shared(value, name="s").get_value().coords["year"].values.tolist() == [
        1990,
        2000,
    ]
    assert (px.xtensor_shared(value) * 2).sel(year=2000).eval() == 4
    with pytest.raises(ValueError, match="the array has the dimensions"):
        px.as_xtensor(value, dims="time")
