"""Special functions implemented as loops in StableHLO, against SciPy."""

import numpy as np
import pytest
import scipy.special

import bitale as bt
import bitale.tensor as pt

rows = np.random.default_rng(3)
SHAPE = np.concatenate(
    [rows.uniform(0.01, 5, 300), 10 ** rows.uniform(-3, 4, 300), 10 ** rows.uniform(4, 8, 200)]
)
NEAR = SHAPE * (1 + rows.normal(size=SHAPE.size) / np.sqrt(SHAPE + 0.1)).clip(0.01)
FAR = SHAPE * 10 ** rows.uniform(-1, 1, SHAPE.size)
EDGES = np.array([0.0, 1.0, 0.5, 1e-300, 30.0, np.inf, -1.0, np.nan])


def both(name, *values):
    inputs = [pt.tensor(dtype=str(v.dtype), shape=(None,)) for v in values]
    out = getattr(pt, name)(*inputs)
    return bt.function(inputs, out, mode="JAX")(*values), bt.function(inputs, out)(*values)


@pytest.mark.parametrize("name", ["gammainc", "gammaincc"])
@pytest.mark.parametrize("x", [NEAR, FAR], ids=["near", "far"])
def test_incomplete_gamma_functions(name, x):
    got, _ = both(name, SHAPE, x)
    np.testing.assert_allclose(got, getattr(scipy.special, name)(SHAPE, x), rtol=2e-8, atol=1e-300)
    small = SHAPE < 1e3
    np.testing.assert_allclose(
        got[small], getattr(scipy.special, name)(SHAPE, x)[small], rtol=1e-10, atol=1e-300
    )


def test_the_incomplete_beta_function():
    a, b, x = SHAPE[:500], rows.permutation(SHAPE[:500]), rows.uniform(0, 1, 500)
    near = (a / (a + b) + rows.normal(size=500) * np.sqrt(a * b / (a + b + 1)) / (a + b)).clip(
        1e-9, 1 - 1e-9
    )
    for at in (x, near):
        got, _ = both("betainc", a, b, at)
        np.testing.assert_allclose(got, scipy.special.betainc(a, b, at), rtol=1e-9, atol=1e-300)


def test_ndtri_exp():
    y = np.concatenate(
        [
            -(10 ** rows.uniform(-18, 5, 300)),
            -rows.uniform(0, 3, 300),
            [-np.log(2), 0.0, -np.inf, np.nan, 1.0, -1e300],
        ]
    )
    got, native = both("ndtri_exp", y)
    np.testing.assert_allclose(got, native, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name, count", [("gammainc", 2), ("gammaincc", 2), ("betainc", 3)])
def test_limits_equal_those_of_native_code(name, count):
    grids = [each.ravel() for each in np.meshgrid(*[EDGES] * count)]
    for dtype in ("float64", "float32"):
        got, native = both(name, *(each.astype(dtype) for each in grids))
        assert got.dtype == dtype
        np.testing.assert_allclose(
            got, native, rtol=1e-10 if dtype == "float64" else 1e-6, atol=1e-16
        )


def test_truncated_normals_have_the_same_numbers():
    rng = pt.random.rng("rng", "Threefry")
    x = rng.truncated_normal(1.0, 2.0, lower=0.0, upper=np.inf, size=50)[1]
    got, native = (
        bt.function([rng], x, mode=mode)(bt.random.stream(3)) for mode in ("JAX", "FAST_RUN")
    )
    np.testing.assert_allclose(got, native, rtol=1e-11)


def test_gradients():
    x = pt.dvector("x")
    for name, rest in (("gammainc", (2.5,)), ("betainc", (2.0, 3.0))):
        slope = bt.grad(getattr(pt, name)(*rest, x).sum(), x)
        got, native = (
            bt.function([x], slope, mode=mode)(np.array([0.1, 0.5, 0.9]))
            for mode in ("JAX", "FAST_RUN")
        )
        np.testing.assert_allclose(got, native, rtol=1e-10)


def test_erfinv_near_one():
    # 1 - x * x would lose the digits of 1 - x, as chlo.erf_inv does: its relative error there is 1e-10.
    x = 1 - 10.0 ** -np.linspace(1, 15.5, 200)
    v = pt.dvector("v")
    f = bt.function([v], pt.erfinv(v), mode="JAX")
    np.testing.assert_allclose(f(x), scipy.special.erfinv(x), rtol=2e-15)
