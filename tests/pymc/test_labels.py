"""Labelled tensors of PyTensor: their ops convert natively, with the values of PyTensor's Python linker, and models of pymc.dims compile."""

from __future__ import annotations

import warnings

import numpy as np
import pytensor
import pytest

px = pytest.importorskip("pytensor.xtensor")

import bitale as bt
import bitale.pytensor
from bitale.pytensor import from_pytensor
from compare import ORACLE

x, v = (
    px.xtensor("x", dims=("a", "b"), dtype="float64"),
    px.xtensor("v", dims=("b",), dtype="float64"),
)
m, k = (
    px.xtensor("m", dims=("r", "c", "a"), dtype="float64"),
    px.xtensor("k", dims=("p",), dtype="int64"),
)
rng = np.random.default_rng(0)
SQUARES = rng.normal(size=(3, 3, 2))
VALUES = {
    x: rng.normal(size=(2, 3)),
    v: rng.normal(size=3),
    m: np.einsum("ika,jka->ija", SQUARES, SQUARES) + 3 * np.eye(3)[:, :, None],
    k: np.array([1, 0, 1]),
}

GRAPHS = {
    "elementwise": [x * v, v - x, px.math.exp(x) + 1, px.where(x > 0, x, v), px.math.cast(x, "float32"), px.math.clip(x, -1, 1)],
    "reductions": [x.sum("a"), x.mean(), x.std("b"), x.max("a"), (x > 0).any("b"), x.cumsum("b"), px.math.logsumexp(x, "a"), px.math.softmax(x, "b")],
    "products": [px.dot(x, v), px.dot(x, v, dim="a"), x @ v],
    "shapes": [x.T, x.rename(a="z"), x.stack({"s": ("a", "b")}), x.unstack({"b": {"e": 3, "f": 1}}), x.expand_dims("n"), x.expand_dims("n").squeeze("n"),
               px.concat([x, v], dim="a"), v.broadcast_like(x), *px.broadcast(v, x), px.full_like(x, 2.0)],
    "indices": [x[0], x[:, 1:], x.isel(a=k), x.isel(b=k, a=k), x.isel(b=[0, 2]), x[0].set(v), x[:, 1:].inc(1.0), x.isel(a=k).inc(2.0), x.diff("b"), x.head(b=2)],
    "matrices": [px.linalg.cholesky(m, dims=("r", "c")), px.linalg.solve(m, v.rename(b="c"), dims=("r", "c"))],
    "convolution": [px.signal.convolve1d(x, v.rename(b="l"), dims=("b", "l"))],
}  # fmt: skip


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs(name):
    known = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of callbacks
        outputs = from_pytensor([each.values for each in GRAPHS[name]], known, strict=True)
    used = [each for each in VALUES if each in known]
    got = bt.function([known[each] for each in used], outputs)(*(VALUES[each] for each in used))
    expected = pytensor.function(used, GRAPHS[name], mode=ORACLE, on_unused_input="ignore")(
        *(VALUES[each] for each in used)
    )
    for one, other in zip(got, expected):
        np.testing.assert_allclose(
            one, other, rtol=1e-6 if one.dtype == "float32" else 1e-12, atol=1e-12
        )
        assert one.dtype == other.dtype


def test_labelled_outputs_and_gradients():
    known = {}
    loss = from_pytensor(((x * v) ** 2).sum(), known)
    slope = bt.function([known[x], known[v]], bt.grad(loss, known[v]))(VALUES[x], VALUES[v])
    np.testing.assert_allclose(slope, (2 * VALUES[x] ** 2 * VALUES[v]).sum(0))


def test_shared_labelled_tensors():
    weights = px.type.xtensor_shared(np.arange(3.0), dims=("b",), name="weights")
    assert from_pytensor(px.dot(v, weights).values, known := {}) is not None
    assert known[weights].get_value().tolist() == [0, 1, 2]


@pytest.fixture(scope="module")
def model():
    pm, pmd = pytest.importorskip("pymc"), pytest.importorskip("pymc.dims")
    draw = np.random.default_rng(1)
    with pm.Model(coords={"county": list("abcd"), "obs": np.arange(40)}) as made:
        floor = pmd.Data("floor", draw.normal(size=40), dims="obs")
        county = pmd.Data("county_of", draw.integers(0, 4, 40), dims="obs")
        mean, noise = pmd.Normal("mean", 0, 1), pmd.HalfNormal("noise", 1)
        level = pmd.Normal("level", mean, 1, dims="county")
        pmd.Deterministic("level2", 2 * level)
        pmd.Normal(
            "y",
            level.isel(county=county) + floor,
            noise,
            observed=pmd.as_xtensor(draw.normal(size=40), dims="obs"),
        )
    return made


def test_models_in_mode_bitale(model):
    point = model.initial_point()
    assert float(model.compile_logp(mode="BITALE")(point)) == pytest.approx(
        float(model.compile_logp(mode=ORACLE)(point)), rel=1e-12
    )
    np.testing.assert_allclose(
        model.compile_dlogp(mode="BITALE")(point),
        model.compile_dlogp(mode=ORACLE)(point),
        rtol=1e-10,
    )


def test_models_through_nutpie(model):
    nutpie = pytest.importorskip("nutpie")
    posterior = nutpie.sample(
        bitale.pytensor.nutpie.compile_model(model),
        draws=60,
        tune=60,
        chains=1,
        progress_bar=False,
        seed=1,
    ).posterior
    assert posterior["level"].dims == posterior["level2"].dims == ("chain", "draw", "county")
    np.testing.assert_allclose(posterior["level2"], 2 * posterior["level"])
