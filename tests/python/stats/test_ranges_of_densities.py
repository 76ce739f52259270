"""Densities and tails over the whole range of their dtype, and their slopes: against many digits."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.stats import transforms

mpmath = pytest.importorskip("mpmath")
mp = mpmath.mp
inf = np.inf


def standard_cauchy_cdf(z):
    return (
        mpmath.atan(-1 / z) / mp.pi
        if z < 0
        else 1 - (mpmath.atan(1 / z) / mp.pi if z > 0 else mpmath.mpf(1) / 2)
    )


def log_of_rest(y):
    return mpmath.log(-mpmath.expm1(-y))


def t_density(x, df):
    if df == inf:
        return -x * x / 2 - mpmath.log(2 * mp.pi) / 2
    constant = mpmath.loggamma((df + 1) / 2) - mpmath.loggamma(df / 2) - mpmath.log(df * mp.pi) / 2
    return constant - (df + 1) / 2 * mpmath.log1p(x * x / df)


def weibull_tail(x, k):
    return log_of_rest(x**k)


HUGE = [
    s * 10.0**e
    for e in (-300, -160, -20, -9, -3, 0, 1, 8, 16, 17, 18, 20, 37, 100, 154, 170, 300)
    for s in (-1, 1)
]
POSITIVE = [x for x in HUGE if x > 0]
# By name: the function of many digits, values, parameters (each a constant).
CASES = {
    "cauchy_logpdf": (lambda x: -mpmath.log(mp.pi) - mpmath.log1p(x * x), HUGE, ()),
    "halfcauchy_logpdf": (lambda x: mpmath.log(2 / mp.pi) - mpmath.log1p(x * x), POSITIVE, ()),
    "t_logpdf": (t_density, HUGE, (3.5,)),
    "t_logpdf of small df": (t_density, HUGE, (1e-3,)),
    "t_logpdf of large df": (t_density, [x for x in HUGE if abs(x) < 1e17], (1e12,)),
    "t_logpdf of infinite df": (t_density, [x for x in HUGE if 1e-200 < abs(x) < 1e10], (inf,)),
    "wald_logpdf": (
        lambda x, m, s: (mpmath.log(s / (2 * mp.pi * x**3)) - s * (x - m) ** 2 / (m * m * x)) / 2, POSITIVE, (1.0, 1.0),
    ),
    "cauchy_logcdf": (lambda x: mpmath.log(standard_cauchy_cdf(x)), HUGE, ()),
    "cauchy_logsf": (lambda x: mpmath.log(standard_cauchy_cdf(-x)), HUGE, ()),
    "gumbel_logcdf": (lambda x: -mpmath.exp(-x), [-700, -80, -5, 0, 5, 30, 80, 800, 1e10], ()),
    "gumbel_logsf": (lambda x: log_of_rest(mpmath.exp(-x)), [-5, -1, 0, 0.3, 5, 30, 39.9, 40.1, 80, 800, 1e10, 1e300], ()),
    "halfnormal_logsf": (
        lambda x: mpmath.log(mpmath.erfc(x / mpmath.sqrt(2))), [1e-300, 1e-20, 1e-9, 1e-3, 0.5, 0.999, 1, 1.001, 5, 30, 1000], (),
    ),
    "halfnormal_logcdf": (lambda x: mpmath.log(mpmath.erf(x / mpmath.sqrt(2))), [1e-300, 1e-20, 1e-9, 1e-3, 0.5, 1], ()),
    "exponential_logcdf": (log_of_rest, [1e-300, 1e-20, 1e-9, 0.1, 0.69, 0.7, 5, 30, 600], ()),
    "rayleigh_logcdf": (lambda x: log_of_rest(x * x / 2), [1e-300, 1e-200, 1e-30, 0.9e-17, 1.1e-17, 1e-9, 0.1, 1, 5, 30], ()),
    "weibull_logcdf": (weibull_tail, [1e-300, 1e-200, 1e-30, 1e-9, 0.1, 1, 5, 20], (2.0,)),
    "weibull_logcdf of small shape": (weibull_tail, [1e-300, 1e-9, 0.1, 1, 5, 1e20, 1e100], (0.01,)),
    "logistic_logcdf": (lambda x: -mpmath.log1p(mpmath.exp(-x)), [-1e300, -800, -30, -1, 0, 1, 30, 700], ()),
    "normal_logcdf": (lambda x: mpmath.log(mpmath.ncdf(x)), [-1000, -40, -5, -1, 0, 1, 5, 30], ()),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_values_and_slopes(name, dtype, mode):
    exact, values, parameters = CASES[name]
    tiny, largest = float(np.finfo(dtype).tiny), float(np.finfo(dtype).max)
    rtol = 1e-12 if dtype == "float64" else 2e-5
    x = pt.vector("x", dtype=dtype)
    density = getattr(bt.stats, name.split()[0])(x, *parameters)
    f = bt.function([x], [density, bt.grad(density.sum(), x)], mode=mode)
    given = np.array([v for v in values if v == 0 or tiny < abs(v) <= largest], dtype=dtype)
    with np.errstate(all="ignore"):
        value, slope = f(given)
    with mp.workdps(700 if dtype == "float64" else 120):
        parameters = [mpmath.mpf(p) for p in parameters]
        for point, got, got_slope in zip(given, value, slope):
            point = mpmath.mpf(float(point))
            expected = exact(point, *parameters)
            step = (abs(point) or 1) * mpmath.mpf(10) ** -40
            slope_there = (exact(point + step, *parameters) - exact(point - step, *parameters)) / (
                2 * step
            )
            for kind, number, right in (
                ("value", got, expected),
                ("slope", got_slope, slope_there),
            ):
                right = float(right) if abs(right) < largest else inf * (1 if right > 0 else -1)
                message = f"{kind} at {mpmath.nstr(point, 5)}: {number}, not {right}"
                if abs(right) < tiny:
                    assert abs(number) <= tiny, message
                else:
                    assert number == right or abs(number - right) <= rtol * abs(right), message


# Where the derivative is 0 it is no nan.
@pytest.mark.parametrize("name, x, parameters", [
    ("gumbel_logsf", -800.0, ()), ("gumbel_logsf", -1e300, ()), ("weibull_logcdf", 1e200, (3.0,)), ("weibull_logcdf", 1e300, (2.0,)),
    ("rayleigh_logcdf", 1e200, ()), ("exponential_logcdf", 1e300, ()), ("halfnormal_logcdf", 1e200, ()),
])  # fmt: skip
@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_tails_that_are_flat(name, x, parameters, mode):
    at = pt.dscalar()
    value = getattr(bt.stats, name)(at, *parameters)
    with np.errstate(all="ignore"):
        assert bt.function([at], [value, bt.grad(value, at)], mode=mode)(x) == [0, 0]


# As kappa falls to 0: the density of the circle and its slopes.
@pytest.mark.parametrize("distance", [0.0, 0.5, -2.0])
def test_vonmises_without_concentration(distance):
    kappa = pt.dscalar()
    value = bt.stats.vonmises_logpdf(distance, 0.0, kappa)
    slope = bt.grad(value, kappa)
    got = bt.function([kappa], [value, slope, bt.grad(slope, kappa)])(0.0)
    np.testing.assert_allclose(got, [-np.log(2 * np.pi), np.cos(distance), -0.5], rtol=1e-12)
    x = pt.dvector()
    assert bt.function([x], bt.grad(pt.ive(0.0, x).sum(), x))([0.0, -0.0]).tolist() == [-1, 1]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("terms", [2, 5, 100, 5000])
@pytest.mark.parametrize("name", ["categorical", "multinomial", "dirichlet", "simplex_stick"])
def test_shares_sum_to_one_within_their_dtype(name, terms, dtype):
    rng = np.random.default_rng(terms)
    for _ in range(10):
        shares = rng.uniform(0.1, 1, size=terms).astype(dtype)
        shares = (shares / shares.sum(dtype=dtype)).astype(dtype)
        if name == "categorical":
            value = bt.stats.categorical_logpmf(0, shares)
        elif name == "multinomial":
            value = bt.stats.multinomial_logpmf(
                np.eye(terms, dtype=dtype)[0], np.ones((), dtype), shares
            )
        elif name == "dirichlet":
            value = bt.stats.dirichlet_logpdf(shares, np.ones(terms, dtype))
        else:
            value = bt.stats.dirichlet_logpdf(
                transforms.simplex_stick(rng.normal(size=terms - 1).astype(dtype))[0],
                np.ones(terms, dtype),
            )
        assert value.dtype == dtype and (
            np.isfinite(value.eval()) or (dtype == "float16" and value.eval() == inf)
        )
    wrong = np.full(terms, 1.5 / terms, dtype)
    if name == "categorical" and terms < 5000:
        assert np.isnan(bt.stats.categorical_logpmf(0, wrong).eval())


def test_shares_are_rounded_with_the_dtype_of_the_result():
    """Numbers of float64 are computed in float32 beside one that has that dtype."""
    shares = [0.1] * 10
    assert np.isfinite(bt.stats.dirichlet_logpdf(shares, pt.ones(10, dtype="float32")).eval())
    counts = np.ones(10, "float32")
    assert np.isfinite(bt.stats.multinomial_logpmf(counts, counts.sum(), shares).eval())


@pytest.mark.parametrize("name, arguments", [
    ("dirichlet_logpdf", ([0.2, 0.8], [2.0])), ("dirichlet_logpdf", ([1.0], [2.0, 3.0])),
    ("multinomial_logpmf", ([3], 3, [0.2, 0.3, 0.5])), ("multinomial_logpmf", ([1, 2], 3, [1.0])),
    ("multivariate_normal_precision_logpdf", (np.zeros(1), np.zeros(1), np.eye(3))),
    ("multivariate_normal_precision_logpdf", (np.zeros(3), np.zeros(3), np.eye(1))),
    ("multivariate_normal_logpdf", (np.zeros(1), np.zeros(1), np.eye(3))),
    ("multivariate_normal_logpdf", (np.zeros(3), np.zeros(3), np.eye(1))),
    ("multivariate_normal_cholesky_logpdf", (np.zeros(1), np.zeros(1), np.eye(3))),
    ("multivariate_normal_cholesky_logpdf", (np.zeros(3), np.zeros(3), np.eye(1))),
    ("wishart_logpdf", (np.eye(1), 5.0, np.eye(3))), ("wishart_logpdf", (np.eye(3), 5.0, np.eye(1))),
])  # fmt: skip
def test_vectors_of_one_are_not_repeated(name, arguments):
    """Whether each length is known beforehand or in the call only."""
    density, message = getattr(bt.stats, name), rf"{name}|solve_triangular: .* 1\b"
    with pytest.raises(ValueError, match=message):
        density(*arguments)
    for known in range(2 ** len(arguments) - 1):
        given, inputs, values = [], [], []
        for k, argument in enumerate(map(np.asarray, arguments)):
            if known >> k & 1:
                given.append(argument)
                continue
            given.append(pt.tensor(dtype=argument.dtype, shape=(None,) * argument.ndim))
            inputs.append(given[-1])
            values.append(argument)
        for mode in ("FAST_RUN", "FAST_COMPILE"):
            with pytest.raises(ValueError, match=message):
                bt.function(inputs, density(*given), mode=mode)(*values)


@pytest.mark.parametrize(
    "name, element", [("simplex", 1.0), ("simplex_stick", 1.0), ("sum_to_zero", 0.0)]
)
@pytest.mark.parametrize("batch", [(), (3,)])
def test_vectors_of_no_numbers(name, element, batch):
    for y in (
        pt.as_tensor(np.zeros((*batch, 0))),
        pt.tensor(shape=(None,) * (len(batch) + 1), dtype="float64"),
    ):
        x, log_jacobian = getattr(transforms, name)(y)
        inputs = {} if hasattr(y, "data") else {y: np.zeros((*batch, 0))}
        np.testing.assert_array_equal(x.eval(inputs), np.full((*batch, 1), element))
        np.testing.assert_array_equal(
            log_jacobian.eval(inputs, on_unused_input="ignore"), np.zeros(batch)
        )


def truncated_normal(x, loc, scale, lower, upper):
    z, low, high = (x - loc) / scale, (lower - loc) / scale, (upper - loc) / scale
    if low < 0:
        low, high = -high, -low
    mass = (mpmath.erfc(low / mpmath.sqrt(2)) - mpmath.erfc(high / mpmath.sqrt(2))) / 2
    return -z * z / 2 - mpmath.log(scale * mpmath.sqrt(2 * mp.pi) * mass)


@pytest.mark.parametrize("x, lower, upper", [
    (1.0, 1.0, 1.0 + 1e-8), (-1.0, -1.0 - 1e-12, -1.0), (1e8 + 1e-7, 1e8, 1e8 + 1e-6), (3e-9, -1e-9, 4e-9), (0.2, 0.0, 0.25),
    (1.1, 1.0, 1.2499), (1.1, 1.0, 1.2501), (100.001, 100.0, 100.005), (-5.0, -5.5, -4.8), (0.1, -0.2, 0.3), (1.0, -2.0, 3.0),
    (40.5, 40.0, 41.0), (-3.0, -inf, -2.0), (3.0, 2.0, inf), (3.0, -inf, inf), (1e5 + 3e-5, 1e5, inf),
])  # fmt: skip
def test_truncation_to_narrow_and_far_intervals(x, lower, upper, mode):
    """By the width: the difference of tails has no digits there."""
    given = [x, 0.0, 1.0, lower, upper]
    inputs = [pt.dscalar() for _ in given]
    value = bt.stats.truncated_normal_logpdf(*inputs)
    got = bt.function(inputs, [value, *bt.grad(value, inputs)], mode=mode)(*given)
    with mp.workdps(400):
        at = [mpmath.mpf(v) for v in given]
        right = [truncated_normal(*at)]
        for k, v in enumerate(at):
            step = mpmath.mpf(10) ** -80 if mpmath.isfinite(v) else 0
            below, above = ([*at[:k], v + s, *at[k + 1 :]] for s in (-step, step))
            difference = truncated_normal(*above) - truncated_normal(*below)
            right.append(difference / (2 * step) if step else mpmath.mpf(0))
    np.testing.assert_allclose(got, [float(v) for v in right], rtol=1e-13)
