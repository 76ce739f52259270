"""Transforms of constrained variables: what they constrain, their Jacobians against the determinants of derivatives, their inverses, and
the values of Stan's."""

from collections import namedtuple

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.stats import transforms

K = 4
TRIANGLE = K * (K - 1) // 2
# By name: the lengths of y, further arguments, and the elements of x that count as its coordinates.
free = {
    "all": lambda x: x,
    "but_last": lambda x: x[:-1],
    "below": lambda x: x[np.tril_indices(K, -1)],
    "lower": lambda x: x[np.tril_indices(K)],
}
CASES = {
    "lower": (K, (0.5,), "all"),
    "upper": (K, (0.5,), "all"),
    "interval": (K, (-0.5, 2.0), "all"),
    "offset_multiplier": (K, (0.5, 2.0), "all"),
    "ordered": (K, (), "all"),
    "positive_ordered": (K, (), "all"),
    "simplex": (K - 1, (), "but_last"),
    "simplex_stick": (K - 1, (), "but_last"),
    "cholesky_corr": (TRIANGLE, (K,), "below"),
    "corr_matrix": (TRIANGLE, (K,), "below"),
    "cholesky_cov": (TRIANGLE + K, (K,), "lower"),
    "cov_matrix": (TRIANGLE + K, (K,), "lower"),
}
HOLDS = {
    "lower": lambda x: x > 0.5,
    "upper": lambda x: x < 0.5,
    "interval": lambda x: (x > -0.5) & (x < 2),
    "ordered": lambda x: np.diff(x) > 0,
    "positive_ordered": lambda x: np.diff(x, prepend=0) > 0,
    "simplex": lambda x: (x > 0) & np.isclose(x.sum(), 1),
    "simplex_stick": lambda x: (x > 0) & np.isclose(x.sum(), 1),
    "sum_to_zero": lambda x: np.isclose(x.sum(), 0),
    "unit_vector": lambda x: np.isclose((x**2).sum(), 1),
    "cholesky_corr": lambda x: (
        np.isclose(np.diag(x @ x.T), 1) & (np.diag(x) > 0) & np.allclose(np.triu(x, 1), 0)
    ),
    "corr_matrix": lambda x: np.isclose(np.diag(x), 1) & (np.linalg.eigvalsh(x) > 0),
    "cholesky_cov": lambda x: (np.diag(x) > 0) & np.allclose(np.triu(x, 1), 0),
    "cov_matrix": lambda x: np.linalg.eigvalsh(x) > 0,
}
LENGTHS = {name: case[0] for name, case in CASES.items()} | {"sum_to_zero": K - 1, "unit_vector": K}
ARGUMENTS = {name: case[1] for name, case in CASES.items()}


def a_point(name, batch=()):
    return np.random.default_rng(len(name)).normal(size=(*batch, LENGTHS[name]))


def constrained(name, y):
    return [each.eval() for each in getattr(transforms, name)(y, *ARGUMENTS.get(name, ()))]


def inverse(name, x):
    arguments = () if "corr" in name or "cov" in name else ARGUMENTS.get(name, ())
    return getattr(transforms, f"{name}_inverse")(x, *arguments).eval()


@pytest.mark.parametrize("name", CASES)
def test_the_jacobian_is_that_of_the_derivatives(name):
    length, arguments, which = CASES[name]
    y = pt.dvector("y")
    x, log_jacobian = getattr(transforms, name)(y, *arguments)
    indices = (
        np.arange(K * K).reshape(K, K) if x.ndim == 2 else np.arange(length + (which == "but_last"))
    )
    coordinates = x.ravel()[free[which](indices)]
    f = bt.function([y], [bt.jacobian(coordinates, y), log_jacobian.sum()])
    derivatives, value = f(a_point(name))
    sign, expected = np.linalg.slogdet(derivatives)
    assert sign != 0 and value == pytest.approx(expected, rel=1e-12)


def test_zero_sums_keep_lengths():
    y = a_point("sum_to_zero")
    x, log_jacobian = constrained("sum_to_zero", y)
    assert (x**2).sum() == pytest.approx((y**2).sum(), rel=1e-14) and log_jacobian == 0


@pytest.mark.parametrize("name", LENGTHS)
def test_values_are_constrained_and_come_back(name):
    y = a_point(name)
    x, _ = constrained(name, y)
    if name in HOLDS:
        assert np.all(HOLDS[name](x))
    back = inverse(name, x)
    np.testing.assert_allclose(
        back, y / np.sqrt((y**2).sum()) if name == "unit_vector" else y, rtol=1e-11, atol=1e-13
    )


@pytest.mark.parametrize("name", LENGTHS)
def test_batches(name):
    y = a_point(name, (2, 3))
    x, log_jacobian = constrained(name, y)
    for i in np.ndindex(2, 3):
        one, j = constrained(name, y[i])
        np.testing.assert_allclose(x[i], one, rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose(log_jacobian[i], j, rtol=1e-14)
    np.testing.assert_allclose(constrained(name, inverse(name, x))[0], x, rtol=1e-10, atol=1e-13)


# Stan 2.37: log_prob of a model of one parameter x of the type, whose log density is sum(x .* w), w = sin(1), sin(2), ...; at y = cos(1.3 k).
STANS = {
    "simplex": -5.510528100671101,
    "ordered": -2.1930334355335006,
    "positive_ordered": -0.7459609527533102,
    "sum_to_zero": -1.3987998639807884,
    "unit_vector": -1.5876769672448077,
    "cholesky_corr": -2.802990526991406,
    "corr_matrix": -4.0236731913657735,
    "cholesky_cov": -0.35083849573721715,
    "cov_matrix": 1.6789262539106962,
    "interval": -2.006443723172334,
    "lower": 0.06545949384297856,
    "upper": -0.6239846847457068,
    "offset_multiplier": 1.3179468958131573,
}


@pytest.mark.parametrize("name", STANS)
def test_stans_values_and_gradients(name):
    y = pt.dvector("y")
    x, log_jacobian = getattr(transforms, name)(y, *ARGUMENTS.get(name, ()))
    weights = np.sin(np.arange(1, (17 if x.ndim == 2 else 5)))
    density = (x * (weights.reshape(4, 4) if x.ndim == 2 else weights)).sum() + log_jacobian.sum()
    f = bt.function([y], [density, bt.grad(density, y)])
    at, step = np.cos(1.3 * np.arange(1, LENGTHS[name] + 1)), 1e-6
    value, gradient = f(at)
    assert value == pytest.approx(STANS[name], rel=1e-12)
    differences = [
        (f(at + step * e)[0] - f(at - step * e)[0]) / (2 * step) for e in np.eye(len(at))
    ]
    np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-7)


def test_stans_lkj_density():
    factor, log_jacobian = transforms.cholesky_corr(np.cos(1.3 * np.arange(1, 7)), 4)
    value = bt.stats.lkj_cholesky_logpdf(factor, 1.7) + log_jacobian
    assert float(value.eval()) == pytest.approx(-6.661394742677091, rel=1e-12)


@pytest.mark.parametrize("name", LENGTHS)
def test_far_out_nothing_is_nan(name):
    for y in (np.full(LENGTHS[name], 30.0), np.full(LENGTHS[name], -30.0)):
        x, log_jacobian = constrained(name, y)
        assert np.isfinite(x).all() and np.isfinite(log_jacobian).all()


def test_bad_lengths_are_errors():
    for name in ("cholesky_corr", "corr_matrix", "cholesky_cov", "cov_matrix"):
        with pytest.raises(ValueError, match=f"{name}.*4 rows"):
            getattr(transforms, name)(np.zeros(5), 4)
        with pytest.raises(ValueError, match="at least 1"):
            getattr(transforms, name)(np.zeros(5), 0)
        y = pt.dvector("y")
        with pytest.raises(ValueError):
            bt.function([y], getattr(transforms, name)(y, 4)[0])(np.zeros(5))
        with pytest.raises(NotImplementedError, match="specify_shape"):
            getattr(transforms, f"{name}_inverse")(pt.dmatrix())
    for name in ("ordered", "simplex", "sum_to_zero", "unit_vector"):
        with pytest.raises(ValueError, match=f"{name}.*1 dimension"):
            getattr(transforms, name)(1.0)


def test_one_row():
    assert constrained_of_one("cholesky_corr", 0) == (1.0, 0.0)
    assert constrained_of_one("corr_matrix", 0) == (1.0, 0.0)
    assert constrained_of_one("cholesky_cov", 1) == (np.exp(0.5), 0.5)


def constrained_of_one(name, length):
    x, log_jacobian = getattr(transforms, name)(np.full(length, 0.5), 1)
    return x.eval()[0, 0], log_jacobian.eval()


def test_a_result_that_is_not_unpacked_is_no_tensor():
    """A stack of value and Jacobian would broadcast with two observations."""
    q, y = pt.dscalar("q"), np.array([1.0, 2.0])
    sigma = transforms.lower(q, 0.0)
    value, log_jacobian = sigma
    assert value is sigma.value and log_jacobian is sigma.log_jacobian and isinstance(sigma, tuple)
    rng = pt.random.shared_rng(seed=1)
    for call in (
        lambda: bt.stats.normal_logpdf(y, 0.0, sigma),
        lambda: pt.exp(sigma),
        lambda: 2 * sigma,
        lambda: sigma * 2.0,
        lambda: sigma + q,
        lambda: q * sigma,
    ):
        with pytest.raises(TypeError, match="value, log_jacobian = "):
            call()
    with pytest.raises(TypeError, match="next_rng, x = "):
        pt.exp(rng.normal(0.0, 1.0))
    point = namedtuple("Point", "x y")(1.0, 2.0)  # of numbers, as NumPy has it
    assert pt.as_tensor_variable(point).eval().tolist() == [1.0, 2.0]
    values = bt.function([q], list(sigma))(0.5)
    assert np.allclose(values, [np.exp(0.5), 0.5])
