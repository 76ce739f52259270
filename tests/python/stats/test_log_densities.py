"""Log densities: against SciPy over the support, at and beyond its ends, for nan and for parameters outside their domain; in the far
tails against many digits; gradients against differences."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt

stats = pytest.importorskip("scipy.stats")
inf, nan = np.inf, np.nan

# By name: SciPy's function, values, parameters, a parameter outside its domain (its position and value).
CONTINUOUS = {
    "uniform": (lambda x, a, b: stats.uniform.logpdf(x, a, b - a), [-2, -1.5, 0.3, 2, 2.5], (-1.5, 2.0), (1, -2.0)),
    "normal": (stats.norm.logpdf, [-inf, -40, -1, 0.5, 3, 1e5, inf], (0.5, 2.0), (1, -1.0)),
    "halfnormal": (stats.halfnorm.logpdf, [-1, 0.5, 0.7, 30, inf], (0.5, 2.0), (1, -1.0)),
    "truncated_normal": (
        lambda x, m, s, a, b: stats.truncnorm.logpdf(x, (a - m) / s, (b - m) / s, m, s), [-1, 0.1, 1, 2.5, 4], (0.5, 2.0, 0.1, 2.5), (1, -1.0),
    ),
    "lognormal": (lambda x, m, s: stats.lognorm.logpdf(x, s, scale=np.exp(m)), [-1, 0, 1e-8, 0.7, 30, inf], (0.5, 2.0), (1, -1.0)),
    "t": (stats.t.logpdf, [-30, -1, 0.5, 3, 1e5], (3.5, 0.5, 2.0), (0, -1.0)),
    "cauchy": (stats.cauchy.logpdf, [-30, -1, 0.5, 3, 1e5], (0.5, 2.0), (1, -1.0)),
    "halfcauchy": (stats.halfcauchy.logpdf, [-30, 0.5, 3, 1e5], (0.5, 2.0), (1, -1.0)),
    "laplace": (stats.laplace.logpdf, [-800, -1, 0.5, 3, 500], (0.5, 2.0), (1, -1.0)),
    "logistic": (stats.logistic.logpdf, [-inf, -1600, -1, 0.5, 3, 1e5, inf], (0.5, 2.0), (1, -1.0)),
    "gumbel": (stats.gumbel_r.logpdf, [-inf, -1, 0.5, 3, 1e5], (0.5, 2.0), (1, -1.0)),
    "vonmises": (lambda x, m, k: stats.vonmises.logpdf(x, k, m), [-3, 0, 0.5, 3], (0.5, 20.0), (1, -1.0)),
    "exponential": (lambda x, s: stats.expon.logpdf(x, scale=s), [-1, 0, 0.7, 30, inf], (2.0,), (0, -1.0)),
    "truncexpon": (stats.truncexpon.logpdf, [0.4, 0.5, 3, 4.5, 4.6], (2.0, 0.5, 2.0), (0, -1.0)),
    "gengamma": (lambda x, a, p, s: stats.gengamma.logpdf(x, a / p, p, scale=s), [-1, 0, 0.7, 5, inf], (2.5, 1.5, 2.0), (1, -1.0)),
    "invgamma": (lambda x, a, s: stats.invgamma.logpdf(x, a, scale=s), [-1, 0, 0.7, 5, inf], (2.5, 1.5), (1, -1.0)),
    "chisquare": (stats.chi2.logpdf, [-1, 0, 0.7, 5, inf], (2.5,), (0, -1.0)),
    "beta": (stats.beta.logpdf, [-1, 0, 1e-8, 0.7, 1, 2], (2.5, 1.5), (1, -1.0)),
    "weibull": (lambda x, a, s: stats.weibull_min.logpdf(x, a, scale=s), [-1, 0, 0.7, 5, inf], (2.5, 1.5), (1, -1.0)),
    "pareto": (lambda x, b, s: stats.pareto.logpdf(x, b, scale=s), [-1, 1.4, 1.5, 5, inf], (2.5, 1.5), (0, -1.0)),
    "rayleigh": (lambda x, s: stats.rayleigh.logpdf(x, scale=s), [-1, 0, 0.7, 5, inf], (2.5,), (0, -1.0)),
    "maxwell": (lambda x, s: stats.maxwell.logpdf(x, scale=s), [-1, 0, 0.7, 5, inf], (2.5,), (0, -1.0)),
    "kumaraswamy": (
        lambda x, a, b: np.where((x < 0) | (x > 1), -inf, np.log(a * b) + (a - 1) * np.log(x) + (b - 1) * np.log1p(-(x**a))),
        [-1, 0, 1e-8, 0.7, 1, 2], (2.5, 1.5), (1, -1.0),
    ),
    "gompertz": (lambda x, c, s: stats.gompertz.logpdf(x, c, scale=s), [-1, 0, 0.7, 5, 30, inf], (0.5, 2.0), (0, -1.0)),
    "loguniform": (stats.loguniform.logpdf, [-1, 0.1, 0.25, 0.7, 4, 5], (0.25, 4.0), (0, -1.0)),
    "moyal": (stats.moyal.logpdf, [-inf, -1, 0.5, 3, 500], (0.5, 2.0), (1, -1.0)),
    "wald": (lambda x, m, s: stats.invgauss.logpdf(x, m / s, scale=s), [-1, 0, 0.7, 5, inf], (2.5, 1.5), (0, -1.0)),
    "triangular": (
        lambda x, a, m, b: stats.triang.logpdf(x, (m - a) / (b - a), a, b - a), [-1, 0.5, 1, 2, 2.5, 4], (0.0, 1.0, 3.0), (1, 4.0),
    ),
}  # fmt: skip
DISCRETE = {
    "bernoulli": (stats.bernoulli.logpmf, [-1, 0, 0.5, 1, 2], (0.3,), (0, 1.5)),
    "binomial": (stats.binom.logpmf, [-1, 0, 0.5, 3, 10, 11], (10.0, 0.3), (1, 1.5)),
    "negative_binomial": (stats.nbinom.logpmf, [-1, 0, 0.5, 3, 1000], (2.5, 0.3), (1, 1.5)),
    "betabinom": (stats.betabinom.logpmf, [-1, 0, 0.5, 3, 10, 11], (10.0, 0.3, 2.0), (1, -1.0)),
    "poisson": (stats.poisson.logpmf, [-1, 0, 0.5, 3, 1000, inf], (2.5,), (0, -1.0)),
    "geometric": (stats.geom.logpmf, [0, 1, 1.5, 3, 1000], (0.3,), (0, 1.5)),
    "hypergeometric": (lambda x, g, b, n: stats.hypergeom.logpmf(x, g + b, g, n), [-1, 0, 2, 2.5, 5, 6], (5.0, 9.0, 6.0), (2, 20.0)),
    "integers": (stats.randint.logpmf, [-3, -2, 0, 0.5, 3, 4], (-2.0, 4.0), (1, -3.0)),
    "bernoulli_logit": (lambda x, l: stats.bernoulli.logpmf(x, 1 / (1 + np.exp(-l))), [-1, 0, 0.5, 1, 2], (-0.7,), None),
    "binomial_logit": (lambda x, n, l: stats.binom.logpmf(x, n, 1 / (1 + np.exp(-l))), [-1, 0, 0.5, 3, 10, 11], (10.0, -0.7), (0, -1.0)),
    "poisson_log": (lambda x, l: stats.poisson.logpmf(x, np.exp(l)), [-1, 0, 0.5, 3, 1000], (0.7,), None),
    "negative_binomial_2": (lambda x, m, p: stats.nbinom.logpmf(x, p, p / (m + p)), [-1, 0, 0.5, 3, 1000], (2.5, 1.5), (0, -1.0)),
    "negative_binomial_2_log": (
        lambda x, m, p: stats.nbinom.logpmf(x, p, p / (np.exp(m) + p)), [-1, 0, 0.5, 3, 1000], (0.7, 1.5), (1, -1.0),
    ),
}  # fmt: skip
CASES = {f"{name}_logpdf": case for name, case in CONTINUOUS.items()} | {
    f"{name}_logpmf": case for name, case in DISCRETE.items()
}
TAILS = {
    "uniform": (lambda low, high: stats.uniform(low, high - low), (-1.5, 2.0)),
    "normal": (stats.norm, (0.5, 2.0)),
    "halfnormal": (stats.halfnorm, (0.5, 2.0)),
    "lognormal": (lambda m, s: stats.lognorm(s, scale=np.exp(m)), (0.5, 2.0)),
    "cauchy": (stats.cauchy, (0.5, 2.0)),
    "laplace": (stats.laplace, (0.5, 2.0)),
    "logistic": (stats.logistic, (0.5, 2.0)),
    "gumbel": (stats.gumbel_r, (0.5, 2.0)),
    "exponential": (lambda s: stats.expon(scale=s), (2.0,)),
    "rayleigh": (lambda s: stats.rayleigh(scale=s), (2.0,)),
    "weibull": (lambda a, s: stats.weibull_min(a, scale=s), (1.5, 2.0)),
    "pareto": (lambda b, s: stats.pareto(b, scale=s), (1.5, 2.0)),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", bt.Mode("vm")])
def test_values_are_scipys(name, mode):
    reference, values, parameters, _ = CASES[name]
    x = pt.dvector("x")
    p = [pt.dscalar() for _ in parameters]
    f = bt.function([x, *p], getattr(bt.stats, name)(x, *p), mode=mode)
    with np.errstate(all="ignore"):
        expected = reference(np.array(values, float), *parameters)
    expected[np.isinf(values)] = -inf  # SciPy's formulas have nan there
    np.testing.assert_allclose(
        f(np.array(values, float), *parameters), expected, rtol=1e-12, atol=1e-13
    )
    assert np.isnan(f(np.array([nan]), *parameters)[0])


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[3]])
def test_parameters_outside_their_domain_are_nan(name):
    _, values, parameters, (position, bad) = CASES[name]
    changed = [bad if k == position else p for k, p in enumerate(parameters)]
    inside = (
        sorted(values)[len(values) // 2] if name in ("uniform_logpdf", "triangular_logpdf") else 1.0
    )
    assert np.isnan(getattr(bt.stats, name)(np.float64(inside), *map(np.float64, changed)).eval())


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    _, values, parameters, _ = CASES[name]
    inside = 2.0 if name in ("truncated_normal_logpdf",) else 1.0 if "logpmf" in name else 0.7
    if name in ("truncexpon_logpdf", "pareto_logpdf"):
        inside = 1.9
    moving = [
        k
        for k, p in enumerate(parameters)
        if not (name.startswith(("binomial", "betabinom", "hypergeometric", "integers")) and k == 0)
    ]
    moving = [k for k in moving if not name.startswith(("hypergeometric", "integers"))]
    continuous = "logpdf" in name

    def of(*given):
        given = list(given)
        x = given.pop(0) if continuous else inside
        p = [given.pop(0) if k in moving else v for k, v in enumerate(parameters)]
        return getattr(bt.stats, name)(x, *p)

    at = ([np.array([inside])] if continuous else []) + [np.array([parameters[k]]) for k in moving]
    if at:
        bt.verify_grad(of, at, rng=np.random.default_rng(1))


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_finite_outside_the_support(name):
    """Where a value is -inf, the derivative by a parameter is 0 and no nan."""
    reference, values, parameters, _ = CASES[name]
    with np.errstate(all="ignore"):
        near = (
            [-1e-6, 0.0, 1e-6] if "logpdf" in name else [0.0]
        )  # at an end a derivative may be infinite
        outside = [
            v
            for v in values
            if np.isfinite(v) and all(reference(v + e, *parameters) == -inf for e in near)
        ]
    if not outside:
        return
    p = [pt.dscalar() for _ in parameters]
    sum_ = getattr(bt.stats, name)(np.array(outside, float), *p).sum()
    gradients = bt.grad(sum_, p, disconnected_inputs="ignore")
    assert np.isfinite(bt.function(p, gradients, on_unused_input="ignore")(*parameters)).all()


@pytest.mark.parametrize("name", TAILS)
def test_tails_are_scipys(name):
    distribution, parameters = TAILS[name]
    x = np.array([-25.0, -3.0, 0.0, 0.3, 1.0, 1.7, 4.0, 25.0])
    with np.errstate(all="ignore"):
        of = distribution(*parameters)
        for kind in ("logcdf", "logsf"):
            np.testing.assert_allclose(
                getattr(bt.stats, f"{name}_{kind}")(x, *parameters).eval(),
                getattr(of, kind)(x),
                rtol=2e-11,
                atol=1e-15,
            )
            assert np.isnan(getattr(bt.stats, f"{name}_{kind}")(np.nan, *parameters).eval())


def test_far_tails_keep_their_digits():
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(60):
        mpf, log = mpmath.mpf, mpmath.log
        expected = {
            "normal_logsf": (38.0, log(mpmath.erfc(38 / mpmath.sqrt(2)) / 2)),
            "cauchy_logcdf": (-1e12, log(mpmath.atan(mpf(1e-12)) / mpmath.pi)),
            "laplace_logsf": (-40.0, mpmath.log1p(-mpmath.exp(-40) / 2)),
            "logistic_logcdf": (40.0, -mpmath.log1p(mpmath.exp(-40))),
            "gumbel_logsf": (40.0, log(-mpmath.expm1(-mpmath.exp(-40)))),
            "exponential_logcdf": (1e-20, log(-mpmath.expm1(-mpf(1e-20)))),
            "halfnormal_logcdf": (1e-20, log(mpmath.erf(mpf(1e-20) / mpmath.sqrt(2)))),
        }
        for name, (x, value) in expected.items():
            assert float(getattr(bt.stats, name)(x).eval()) == pytest.approx(
                float(value), rel=1e-13
            ), name
        # A t variable of many degrees of freedom is normal; a negative binomial one of large phi is Poisson.
        assert float(bt.stats.t_logpdf(1.3, 1e12).eval()) == pytest.approx(
            float(-(mpf(1.3) ** 2) / 2 - log(2 * mpmath.pi) / 2), rel=1e-11
        )
        poisson = 7 * log(mpf(5)) - 5 - log(mpmath.factorial(7))
        assert float(bt.stats.negative_binomial_2_logpmf(7, 5.0, 1e13).eval()) == pytest.approx(
            float(poisson), rel=1e-11
        )
        # Both tails of a logit.
        for logit, y in ((40.0, 1), (-40.0, 0), (800.0, 0), (-800.0, 1)):
            sign = 1 if y else -1
            value = -mpmath.log1p(mpmath.exp(-sign * mpf(logit)))
            assert float(bt.stats.bernoulli_logit_logpmf(y, logit).eval()) == pytest.approx(
                float(value), rel=1e-13
            )
        # An interval far out, whose probability is 1e-350, and one around 0.
        mass = (mpmath.erfc(40 / mpmath.sqrt(2)) - mpmath.erfc(41 / mpmath.sqrt(2))) / 2
        density = -(mpf(40.5) ** 2) / 2 - log(2 * mpmath.pi) / 2 - log(mass)
        assert float(
            bt.stats.truncated_normal_logpdf(40.5, 0.0, 1.0, 40.0, 41.0).eval()
        ) == pytest.approx(float(density), rel=1e-12)
        assert float(
            bt.stats.truncated_normal_logpdf(-40.5, 0.0, 1.0, -41.0, -40.0).eval()
        ) == pytest.approx(float(density), rel=1e-12)


def test_gamma_has_a_rate_or_a_scale():
    x = np.array([-1, 0, 0.7, 5])
    assert bt.stats.gamma_logpdf(inf, 2.5).eval() == -inf
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(
            bt.stats.gamma_logpdf(x, 2.5, rate=0.3).eval(),
            stats.gamma.logpdf(x, 2.5, scale=1 / 0.3),
            rtol=1e-12,
        )
        np.testing.assert_allclose(
            bt.stats.gamma_logpdf(x, 1.0, scale=0.3).eval(),
            stats.gamma.logpdf(x, 1.0, scale=0.3),
            rtol=1e-12,
        )
        np.testing.assert_allclose(
            bt.stats.gamma_logpdf(x, 2.5).eval(), stats.gamma.logpdf(x, 2.5), rtol=1e-12
        )
    assert np.isnan(bt.stats.gamma_logpdf(1.0, -1.0).eval())
    with pytest.raises(ValueError, match="a rate or a scale"):
        bt.stats.gamma_logpdf(x, 2.5, 1.0, 1.0)
    bt.verify_grad(
        bt.stats.gamma_logpdf,
        [np.array([0.7]), np.array([2.5]), np.array([0.3])],
        rng=np.random.default_rng(1),
    )


def test_dtypes():
    """A number without a dtype widens nothing, and is not rounded to one of fewer bits."""
    x32, x64, k = pt.fvector(), pt.dvector(), pt.lvector()
    assert (
        bt.stats.normal_logpdf(x32, 0.1, 2).dtype == "float32"
        and bt.stats.normal_logpdf(x64, x32).dtype == "float64"
    )
    assert (
        bt.stats.poisson_logpmf(k, 2.5).dtype == "float64"
        and bt.stats.normal_logpdf(0.5).dtype == "float64"
    )
    assert float(bt.stats.normal_logpdf(x64, 0.0, 0.1).eval({x64: [0.0]})[0]) == pytest.approx(
        stats.norm.logpdf(0, 0, 0.1), rel=1e-15
    )
    assert float(bt.stats.exponential_logpdf(np.float64(1.0), 0.5).eval()) == pytest.approx(
        stats.expon.logpdf(1, scale=0.5), rel=1e-15
    )
    np.testing.assert_allclose(
        bt.stats.t_logpdf(x32, 3.0).eval({x32: [0.5]}), stats.t.logpdf([0.5], 3), rtol=1e-6
    )
    with pytest.raises(TypeError, match="real numbers"):
        bt.stats.normal_logpdf(pt.zvector(), 0.0, 1.0)


def test_an_error_names_the_function():
    x, y = pt.dvector(), pt.dvector()
    f = bt.function([x, y], bt.stats.normal_logpdf(x, y))
    with pytest.raises(ValueError, match="normal_logpdf"):
        f([1.0, 2.0], [1.0, 2.0, 3.0])


# ---- vectors ---------------------------------------------------------------------------------------------------------


def a_covariance(n=3):
    a = np.random.default_rng(1).normal(size=(n, n))
    return a @ a.T + n * np.eye(n)


def test_normal_vectors():
    rng, cov = np.random.default_rng(2), a_covariance()
    x, mean = rng.normal(size=(4, 3)), rng.normal(size=3)
    expected = stats.multivariate_normal(mean, cov).logpdf(x)
    factor = np.linalg.cholesky(cov)
    np.testing.assert_allclose(
        bt.stats.multivariate_normal_logpdf(x, mean, cov).eval(), expected, rtol=1e-12
    )
    np.testing.assert_allclose(
        bt.stats.multivariate_normal_cholesky_logpdf(x, mean, factor).eval(), expected, rtol=1e-12
    )
    np.testing.assert_allclose(
        bt.stats.multivariate_normal_precision_logpdf(x, mean, np.linalg.inv(cov)).eval(),
        expected,
        rtol=1e-11,
    )
    covs = np.stack([cov, 2 * cov, cov + np.eye(3), cov])
    each = [stats.multivariate_normal(mean, c).logpdf(row) for row, c in zip(x, covs)]
    np.testing.assert_allclose(
        bt.stats.multivariate_normal_logpdf(x, mean, covs).eval(), each, rtol=1e-12
    )
    assert np.isnan(bt.stats.multivariate_normal_logpdf(x[0], mean, -cov).eval())
    bt.verify_grad(bt.stats.multivariate_normal_cholesky_logpdf, [x, mean, factor], rng=rng)
    bt.verify_grad(
        lambda x, a: bt.stats.multivariate_normal_precision_logpdf(x, mean, a @ a.T),
        [x, factor],
        rng=rng,
    )


def test_dirichlet_and_multinomial():
    p, alphas = np.array([0.2, 0.5, 0.3]), np.array([0.7, 2.0, 3.0])
    assert float(bt.stats.dirichlet_logpdf(p, alphas).eval()) == pytest.approx(
        stats.dirichlet.logpdf(p, alphas), rel=1e-13
    )
    assert bt.stats.dirichlet_logpdf(p + 0.1, alphas).eval() == -inf and np.isnan(
        bt.stats.dirichlet_logpdf(p, -alphas).eval()
    )
    bt.verify_grad(
        lambda a: bt.stats.dirichlet_logpdf(p, a), [alphas], rng=np.random.default_rng(1)
    )
    counts = np.array([[1, 3, 0], [2, 1, 1]])
    np.testing.assert_allclose(
        bt.stats.multinomial_logpmf(counts, 4, p).eval(),
        stats.multinomial(4, p).logpmf(counts),
        rtol=1e-13,
    )
    assert (
        bt.stats.multinomial_logpmf([1, 3, 1], 4, p).eval() == -inf
        and bt.stats.multinomial_logpmf([5, -1, 0], 4, p).eval() == -inf
    )
    assert np.isnan(bt.stats.multinomial_logpmf([1, 3, 0], 4, p + 0.1).eval())


def test_categories():
    rng = np.random.default_rng(1)
    logits = rng.normal(size=(4, 3))
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    x = np.array([0, 2, 1, 2])
    expected = np.log(p[np.arange(4), x])
    np.testing.assert_allclose(bt.stats.categorical_logpmf(x, p).eval(), expected, rtol=1e-13)
    np.testing.assert_allclose(
        bt.stats.categorical_logit_logpmf(x, logits + 5).eval(), expected, rtol=1e-13
    )
    np.testing.assert_allclose(
        bt.stats.categorical_logpmf([-1, 0, 2, 3], p[0]).eval(),
        [-inf, np.log(p[0, 0]), np.log(p[0, 2]), -inf],
        rtol=1e-13,
    )
    assert np.isnan(bt.stats.categorical_logpmf(0, [0.5, 0.6]).eval())
    bt.verify_grad(lambda l: bt.stats.categorical_logit_logpmf(x, l), [logits], rng=rng)
    with pytest.raises(TypeError, match="integers"):
        bt.stats.categorical_logpmf(pt.dscalar(), p)


def test_ordered_logistic():
    mpmath = pytest.importorskip("mpmath")
    cutpoints, etas = np.array([-1.0, 0.5, 0.5 + 1e-9, 3.0]), np.array([0.3, -2.0, 45.0])

    def value(k, eta):
        with mpmath.workdps(60):
            above = (
                [mpmath.mpf(1)]
                + [1 / (1 + mpmath.exp(mpmath.mpf(c) - mpmath.mpf(eta))) for c in cutpoints]
                + [mpmath.mpf(0)]
            )
            return float(mpmath.log(above[k] - above[k + 1])) if 0 <= k <= 4 else -inf

    f = bt.stats.ordered_logistic_logpmf
    for eta in etas:
        np.testing.assert_allclose(
            f(np.arange(-1, 6), eta, cutpoints).eval(),
            [value(k, eta) for k in range(-1, 6)],
            rtol=1e-7,
        )
    np.testing.assert_allclose(
        f([0, 1, 4], etas, cutpoints).eval(),
        [value(k, e) for k, e in zip([0, 1, 4], etas)],
        rtol=1e-12,
    )
    bt.verify_grad(
        lambda eta, c: f([0, 1, 3], eta, c),
        [np.array([0.3, -2.0, 1.0]), np.array([-1.0, 0.5, 3.0])],
        rng=np.random.default_rng(1),
    )


def test_lkj_and_wishart():
    cov = a_covariance()
    scale = a_covariance() / 4
    assert float(bt.stats.wishart_logpdf(cov, 5.5, scale).eval()) == pytest.approx(
        stats.wishart.logpdf(cov, 5.5, scale), rel=1e-12
    )
    assert np.isnan(bt.stats.wishart_logpdf(cov, 1.5, scale).eval())
    # Of two rows, the correlation is a beta variable of eta on (-1, 1).
    for r, eta in ((0.3, 1.0), (-0.8, 2.5)):
        factor = np.array([[1.0, 0.0], [r, np.sqrt(1 - r * r)]])
        expected = stats.beta.logpdf((r + 1) / 2, eta, eta) - np.log(2)
        assert float(bt.stats.lkj_cholesky_logpdf(factor, eta).eval()) == pytest.approx(
            expected, rel=1e-12
        )
    # Of three, by the determinant: |C|^(eta - 1) over the integral for eta = 1, pi^2 / 2, times the Jacobian of C = L L'.
    sd = np.sqrt(np.diag(cov))
    factor = np.linalg.cholesky(cov / np.outer(sd, sd))
    expected = np.log(factor[1, 1]) - np.log(np.pi**2 / 2)
    assert float(bt.stats.lkj_cholesky_logpdf(factor, 1.0).eval()) == pytest.approx(
        expected, rel=1e-12
    )
    with pytest.raises(NotImplementedError, match="specify_shape"):
        bt.stats.lkj_cholesky_logpdf(pt.dmatrix(), 1.0)
    with pytest.raises(ValueError, match="2 dimensions"):
        bt.stats.lkj_cholesky_logpdf(pt.dvector(), 1.0)
